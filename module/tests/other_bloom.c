/* A module that has BF.* before ours is loaded, as RedisBloom would. No header: three functions of
 * the engine are all it needs, and they have the same names in Redis and Valkey. */

typedef int (*Command)(void *, void **, int);
typedef int (*Lookup)(const char *, void *);

static int (*reply)(void *, const char *);

static int answer(void *ctx, void **words, int count) {
    return reply(ctx, "the other's");
}

int RedisModule_OnLoad(void *ctx, void **words, int count) {
    /* The engine puts the function that finds all others first. */
    Lookup lookup = ((Lookup *)ctx)[0];
    void (*attributes)(void *, const char *, int, int);
    int (*create)(void *, const char *, Command, const char *, int, int, int);
    lookup("RedisModule_SetModuleAttribs", &attributes);
    lookup("RedisModule_CreateCommand", &create);
    lookup("RedisModule_ReplyWithSimpleString", &reply);
    attributes(ctx, "bf", 1, 1);
    create(ctx, "BF.RESERVE", answer, "write", 1, 1, 1);
    return create(ctx, "BF.ADD", answer, "write", 1, 1, 1);
}
