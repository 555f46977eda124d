// SHA-256 by the vectors of FIPS 180-4, in one piece and in pieces of each size.
#include "base/sha256.h"

#include <string.h>

#include "test.h"

static const struct {
    const char *text;
    int times;
    const char *want;
} vectors[] = {
    {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopq"
     "rsmnopqrstnopqrstu",
     1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

int main(void)
{
    char got[SHA256_LETTERS + 1];
    struct sha256 s;
    for (int v = 0; v < COUNT(vectors); v++) {
        size_t length = strlen(vectors[v].text);
        sha256_start(&s);
        for (int i = 0; i < vectors[v].times; i++) sha256_add(&s, vectors[v].text, length);
        sha256_end(&s, got);
        CHECK_TEXT(got, vectors[v].want);
        for (size_t piece = 1; piece < length; piece++) {
            sha256_start(&s);
            for (size_t at = 0; at < length; at += piece)
                sha256_add(&s, vectors[v].text + at, length - at < piece ? length - at : piece);
            sha256_end(&s, got);
            CHECK_TEXT(got, vectors[v].want);
        }
    }
    return TEST_END();
}
