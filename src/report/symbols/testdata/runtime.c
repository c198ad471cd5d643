/* What symbols_test.c looks at: a program with the runtime linked in, as far as stacks see it. */
void (*work)(void);

void call_before(void)
{
    work();
}

void __rh_image_register(void)
{
    work();
}

void run_thread(void)
{
    work();
}

void __rh_benign_race(void)
{
    work();
}

void call_after(void)
{
    work();
}
