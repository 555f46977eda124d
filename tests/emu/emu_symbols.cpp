// Reads the symbol table of the running program, to find a kernel's name and its static __shared__
// arrays: an array `buf` of the kernel _ZL4rowsIfEvPf is the symbol _ZZL4rowsIfEvPfE3buf.
#include "emu_internal.h"

#include <ctype.h>
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>

namespace emu
{
namespace
{

struct table {
    const ElfW(Sym) * symbols;
    size_t count;
    const char *names;
    const ElfW(Shdr) * sections;
    size_t section_count;
    uintptr_t base; // what the loader added to every address
};

int first_object(dl_phdr_info *info, size_t, void *base)
{
    *(uintptr_t *)base = info->dlpi_addr; // the program itself comes first
    return 1;
}

// Maps the program's file, for good.
table table_read()
{
    table t = {};
    struct stat st;
    int fd = open("/proc/self/exe", O_RDONLY);
    if (fd < 0) return t;
    void *map =
        fstat(fd, &st) ? MAP_FAILED : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED) return t;
    const char *file = (const char *)map;
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)file;
    t.sections = (const ElfW(Shdr) *)(file + head->e_shoff);
    t.section_count = head->e_shnum;
    for (size_t i = 0; i < t.section_count; i++) {
        if (t.sections[i].sh_type != SHT_SYMTAB) continue;
        t.symbols = (const ElfW(Sym) *)(file + t.sections[i].sh_offset);
        t.count = t.sections[i].sh_size / sizeof *t.symbols;
        t.names = file + t.sections[t.sections[i].sh_link].sh_offset;
    }
    dl_iterate_phdr(first_object, &t.base);
    return t;
}

// "void rows<float, 32>(int const*, ...)" -> "rows<float, 32>"
std::string short_name(const char *mangled)
{
    int status;
    char *text = abi::__cxa_demangle(mangled, NULL, NULL, &status);
    if (status) return mangled;
    int depth = 0;
    for (char *p = text; *p; p++) {
        if (*p == '<') depth++;
        if (*p == '>') depth--;
        if (*p == '(' && !depth && p > text && p[1] != 'a') *p = 0; // not "(anonymous namespace)"
        if (!*p) break;
    }
    std::string name = strncmp(text, "void ", 5) ? text : text + 5;
    free(text);
    return name;
}

symbols symbols_read(const table &t, const void *kernel)
{
    symbols s = {};
    const char *name = NULL;
    for (size_t i = 0; i < t.count && !name; i++)
        if (ELF64_ST_TYPE(t.symbols[i].st_info) == STT_FUNC &&
            t.symbols[i].st_value + t.base == (uintptr_t)kernel)
            name = t.names + t.symbols[i].st_name;
    if (!name || strncmp(name, "_Z", 2)) return s;
    size_t length = strlen(name + 2);
    for (size_t i = 0; i < t.count; i++) {
        const ElfW(Sym) &y = t.symbols[i];
        const char *n = t.names + y.st_name;
        // Shared arrays have no initial value, so they lie where nothing is stored in the file.
        if (ELF64_ST_TYPE(y.st_info) != STT_OBJECT || y.st_shndx >= t.section_count ||
            t.sections[y.st_shndx].sh_type != SHT_NOBITS)
            continue;
        if (strncmp(n, "_ZZ", 3) || strncmp(n + 3, name + 2, length) || n[3 + length] != 'E' ||
            !isdigit(n[4 + length]))
            continue;
        s.arrays.push_back({(char *)(y.st_value + t.base), (size_t)y.st_size});
        s.shared_bytes += (size_t)y.st_size;
        if (ELF64_ST_BIND(y.st_info) != STB_LOCAL) s.unwatched = true;
    }
    s.name = short_name(name);
    return s;
}

} // namespace

const symbols &symbols_find(const void *kernel)
{
    static const table t = table_read();
    static std::unordered_map<const void *, symbols> known;
    auto found = known.find(kernel);
    if (found == known.end()) found = known.emplace(kernel, symbols_read(t, kernel)).first;
    return found->second;
}

} // namespace emu
