#include "cli/commands/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/words.h"
#include "base/terminal.h"

#define BAR        10 // letters of the bar
#define WIDTH_MAX  240
#define NAME_WIDTH 25

const char *duration_text(double seconds, char text[32])
{
    long long s = (long long)(seconds + 0.5);
    snprintf(text, 32, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

// Writes "3 ok, 1 failed" into `text`; "nothing" without cases.
static const char *endings_text(const struct endings *t, char text[256])
{
    text[0] = 0;
    for (int i = 0; i < STATUS_COUNT; i++) {
        char word[64];
        if (!t->by_status[i]) continue;
        snprintf(word, sizeof word, "%lld %s", (long long)t->by_status[i],
                 status_name((enum status)i));
        words_add(text, 256, ", ", word);
    }
    if (!text[0]) snprintf(text, 256, "nothing");
    return text;
}

void progress_start(struct progress *p, const struct sweep *s, bool quiet, bool verbose)
{
    *p = (struct progress){.sweep = s,
                           .quiet = quiet,
                           .verbose = verbose,
                           .terminal = !quiet && terminal_can_erase(),
                           .start_ms = clock_ms(),
                           .matrices = s->matrix_count * s->pass_count * s->rounds};
    for (int i = 0; i < s->pass_count; i++)
        p->cases += s->matrix_count * s->rounds * s->passes[i].prefixes.count;
}

void progress_clear(const struct progress *p)
{
    if (p->terminal) fprintf(stderr, TERMINAL_ERASE);
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20) return 79;
    return size.ws_col > WIDTH_MAX ? WIDTH_MAX : size.ws_col - 1;
}

// "[=====>    ] 12/60 matrices, 340/1800 cases, 0:12:40 left; ...".
static void show(const struct progress *p)
{
    char line[WIDTH_MAX + 64], bar[BAR + 1], left[48] = "", time[32];
    if (!p->terminal) return;
    int64_t done = p->sweep->cases_before + p->cases_done, rest = p->cases - done;
    double share = p->cases ? (double)done / (double)p->cases : 1;
    int full = share > 1 ? BAR : (int)(share * BAR);
    for (int i = 0; i < BAR; i++) bar[i] = i < full ? '=' : i == full ? '>' : ' ';
    bar[BAR] = 0;
    double spent_s = (clock_ms() - p->start_ms) * 1e-3;
    if (p->cases_done && rest > 0)
        snprintf(left, sizeof left, ", %s left",
                 duration_text(spent_s / (double)p->cases_done * (double)rest, time));
    snprintf(line, sizeof line, "[%s] %lld/%lld matrices, %lld/%lld cases%s%s%s", bar,
             (long long)(p->sweep->matrices_before + p->matrices_done), (long long)p->matrices,
             (long long)done, (long long)p->cases, left, p->last[0] ? "; " : "", p->last);
    fprintf(stderr, TERMINAL_ERASE "%.*s", terminal_width(), line);
}

// Writes the file of the pass's library.
static const char *pass_text(const struct progress *p, int pass, char text[64])
{
    const char *library = p->sweep->passes[pass].library;
    char name[48];
    text[0] = 0;
    if (!library) return text;
    const char *slash = strrchr(library, '/');
    snprintf(text, 64, " (%s)", utf8_visible(slash ? slash + 1 : library, name, sizeof name));
    return text;
}

static void tell_matrix(struct progress *p, const struct sweep_news *n)
{
    char name[FAIL_TEXT_MAX], counts[256], time[32], pass[64];
    p->matrices_done++;
    if (p->quiet && !p->tables) return;
    progress_clear(p);
    if (n->text) fprintf(stderr, "%s\n", n->text);
    if (p->tables) {
        show(p);
        return;
    }
    fprintf(stderr, "%s%s: %s", utf8_visible(n->matrix->name, name, sizeof name),
            pass_text(p, n->pass, pass), endings_text(&n->endings, counts));
    if (n->before)
        fprintf(stderr, "; %lld of it %s there", (long long)n->before,
                n->before == 1 ? "was" : "were");
    fprintf(stderr, " (%s)\n", duration_text(n->seconds, time));
    show(p);
}

static void tell_case(struct progress *p, const struct sweep_news *n)
{
    char name[NAME_WIDTH];
    p->cases_done++;
    snprintf(p->last, sizeof p->last, "%s: %s", utf8_visible(n->matrix->name, name, sizeof name),
             n->text);
    if (p->verbose && !p->quiet && !p->tables) {
        progress_clear(p);
        fprintf(stderr, "%s\n", p->last);
    }
    show(p);
}

static void tell_note(struct progress *p, const struct sweep_news *n)
{
    if (!n->matrix && (p->quiet || !strncmp(p->note, n->text, sizeof p->note - 1))) return;
    if (!n->matrix) snprintf(p->note, sizeof p->note, "%s", n->text);
    progress_clear(p);
    fprintf(stderr, "%s%s%s\n", n->matrix ? n->matrix->path : "", n->matrix ? ": " : "", n->text);
    show(p);
}

void progress_tell(struct progress *p, const struct sweep_news *n)
{
    switch (n->kind) {
    case NEWS_ENVIRONMENT: break;
    case NEWS_CASE: tell_case(p, n); break;
    case NEWS_MATRIX: tell_matrix(p, n); break;
    case NEWS_NOTE: tell_note(p, n); break;
    }
}

// Prints "0:00:08 on 2 devices: 3.1 s starting, 1.0 s loading, ...". Times below 0.05 s are left
// out.
static void tell_spent(const struct progress *p)
{
    const struct sweep *s = p->sweep;
    char parts[256] = "", part[48], time[32];
    double all_ms = 0;
    for (int i = 0; i < SLOT_TIME_COUNT; i++) {
        all_ms += s->spent_ms[i];
        snprintf(part, sizeof part, "%.1f s %s", s->spent_ms[i] * 1e-3, slot_time_names[i]);
        if (s->spent_ms[i] >= 50) words_add(parts, sizeof parts, ", ", part);
    }
    if (!parts[0]) return;
    fprintf(stderr, "%s on %d device%s: %s\n", duration_text(all_ms * 1e-3, time), s->slot_count,
            s->slot_count == 1 ? "" : "s", parts);
}

void progress_end(struct progress *p)
{
    char counts[256], time[32];
    progress_clear(p);
    if (p->quiet || p->tables) return;
    int64_t before = p->sweep->matrices_before;
    fprintf(stderr, "%lld of %lld matrices%s: %s; %s", (long long)(before + p->matrices_done),
            (long long)p->matrices,
            p->sweep->pass_count * p->sweep->rounds > 1 ? " in all passes" : "",
            endings_text(&p->sweep->endings, counts),
            duration_text((clock_ms() - p->start_ms) * 1e-3, time));
    if (before)
        fprintf(stderr, "; %lld of them %s there", (long long)before, before == 1 ? "was" : "were");
    fprintf(stderr, "\n");
    if (p->verbose) tell_spent(p);
}
