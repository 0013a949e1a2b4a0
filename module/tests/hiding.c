/* A module that loads another one, and hides a function of the engine from it: what an older engine
 * lacks. Its arguments are the other module and the name. */

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef int (*Lookup)(const char *, void *);
typedef int (*Load)(void *, void **, int);

static Lookup lookup;
static const char *hidden;

static int look_elsewhere(const char *name, void *found) {
    return strcmp(name, hidden) == 0 ? 1 : lookup(name, found);
}

int RedisModule_OnLoad(void *ctx, void **words, int count) {
    const char *(*text)(const void *, size_t *);
    /* The engine puts the function that finds all others first. */
    Lookup *first = ctx;
    lookup = *first;
    lookup("RedisModule_StringPtrLen", &text);
    void *other = dlopen(text(words[0], NULL), RTLD_NOW | RTLD_LOCAL);
    if (other == NULL) return 1;
    hidden = text(words[1], NULL);
    *first = look_elsewhere;
    int outcome = ((Load)dlsym(other, "RedisModule_OnLoad"))(ctx, words, 0);
    *first = lookup;
    if (outcome != 0) dlclose(other);
    return outcome;
}
