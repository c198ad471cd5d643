/* A shared library with two versions of one function, named in file-scope assembly. */
__asm__(".symver greet_old, greet@V1");
__asm__(".symver greet_new, greet@@V2");

__attribute__((used)) int greet_old(void)
{
    return 1;
}

__attribute__((used)) int greet_new(void)
{
    return 2;
}
