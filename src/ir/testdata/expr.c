/*
 * Accesses of C with the expressions that name them; expr_test.c says how to read the comments.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))

struct node {
    struct node *next;
    struct node *prev;
    int value;
    short tags[4];
};

struct queue {
    struct node *head;
    struct node *tail;
    long count;
    struct {
        int reads;
        int writes;
    } stats;
    struct node *ring[8];
    int grid[3][5];
    struct node pool[4];
};

struct queue main_queue;
static int counter;
long table[16];
struct node nodes[10];
struct node *first_node;
_Atomic int ready;
_Thread_local int errors;
static volatile int stop_flag;

/* Members through pointers. */
KEEP void push(struct queue *q, struct node *n)
{
    n->next = q->head;     // EXPR write n->next; read q->head
    n->prev = NULL;        // EXPR write n->prev
    if (q->head)           // EXPR read q->head
        q->head->prev = n; // EXPR read q->head; write q->head->prev
    q->head = n;           // EXPR write q->head
    q->count++;            // EXPR read q->count; write q->count
    q->stats.writes++;     // EXPR read q->stats.writes; write q->stats.writes
}

KEEP struct node *pop(struct queue *q)
{
    struct node *n = q->head; // EXPR read q->head
    if (n) {
        q->head = n->next; // EXPR write q->head; read n->next
        n->next = NULL;    // EXPR write n->next
        q->count -= 1;     // EXPR read q->count; write q->count
    }
    return n;
}

/* Loads that lead to loads. */
KEEP int reach(struct queue *q)
{
    return q->head->next->value; // EXPR read q->head; read q->head->next; read q->head->next->value
}

/* Globals, statics, thread-locals, atomics. */
KEEP void globals(int i, struct node *n)
{
    counter++;                  // EXPR read counter; write counter
    table[3] = 7;               // EXPR write table[3]
    table[i] = 1;               // EXPR write table[i]
    table[i + 1] = 2;           // EXPR write table[i+1]
    nodes[i].value = 3;         // EXPR write nodes[i].value
    nodes[2].tags[1] = 4;       // EXPR write nodes[2].tags[1]
    main_queue.head = n;        // EXPR write main_queue.head
    main_queue.stats.reads = 1; // EXPR write main_queue.stats.reads
    errors = 5;                 // EXPR write errors
    stop_flag = 1;              // EXPR write stop_flag
}

KEEP int more_globals(int i)
{
    static int calls;
    calls += i;                  // EXPR read calls; write calls
    first_node->value = i;       // EXPR read first_node; write first_node->value
    atomic_fetch_add(&ready, 1); // EXPR write ready
    atomic_store(&ready, i);     // EXPR write ready
    return atomic_load(&ready);  // EXPR read ready
}

/* Arrays in structs, of structs, of pointers, of arrays. */
KEEP void arrays(struct queue *q, int i, int j)
{
    q->ring[i] = NULL;        // EXPR write q->ring[i]
    q->ring[2] = NULL;        // EXPR write q->ring[2]
    q->ring[i]->value = 1;    // EXPR read q->ring[i]; write q->ring[i]->value
    q->grid[i][j] = 2;        // EXPR write q->grid[i][j]
    q->grid[1][2] = 3;        // EXPR write q->grid[1][2]
    q->grid[i][4] = 4;        // EXPR write q->grid[i][4]
    q->pool[i].tags[j] = 5;   // EXPR write q->pool[i].tags[j]
    q->pool[3].next = NULL;   // EXPR write q->pool[3].next
    q->ring[q->count] = NULL; // EXPR read q->count; write q->ring[q->count]
    q->pool[i - 1].value = 6; // EXPR write q->pool[i-1].value; weak *q
}

/* Plain pointers. */
KEEP void pointers(int *p, int **pp, char *bytes, long n, struct node **link)
{
    *p = 1;                // EXPR write *p
    p[1] = 2;              // EXPR write p[1]
    p[n] = 3;              // EXPR write p[n]
    **pp = 4;              // EXPR read *pp; write **pp
    (*pp)[n] = 5;          // EXPR read *pp; write (*pp)[n]
    pp[2][3] = 6;          // EXPR read pp[2]; write pp[2][3]
    bytes[n - 1] = 'x';    // EXPR write bytes[n-1]
    (*link)->value = 7;    // EXPR read *link; write (*link)->value
    *link = (*link)->next; // EXPR read *link; read (*link)->next; write *link
    link[1]->prev = NULL;  // EXPR read link[1]; write link[1]->prev
}

KEEP void matrix(int (*rows)[4], int i, int j)
{
    rows[i][j] = 1; // EXPR write rows[i][j]
    (*rows)[2] = 2; // EXPR write (*rows)[2]
}

/* The pointer moves on while it is used. */
KEEP void copy(char *to, const char *from)
{
    while ((*to++ = *from++)) // EXPR read *from; write *to
        ;
}

struct writer {
    char *at;
    char **all;
    int n;
};

KEEP void append(struct writer *w, char c, char *text)
{
    *w->at++ = c;          // EXPR read w->at; write w->at; write *w->at
    w->all[w->n++] = text; // EXPR read w->all; read w->n; write w->n; write w->all[w->n]
}

KEEP int sum(const int *p, const int *end)
{
    int total = 0;
    while (p < end)
        total += *p++; // EXPR read *p; weak p[...]; weak p[1]; weak p[2]; weak p[3]
    return total;
}

KEEP int walk(struct queue *q)
{
    int total = 0;
    for (struct node *n = q->head; n; n = n->next) // EXPR read q->head; read n->next
        total += n->value;                         // EXPR read n->value
    return total;
}

KEEP void fill(long *out, long n)
{
    for (long i = 0; i < n; i++)
        out[i] = i; // EXPR write out[i]; weak out[...]
}

KEEP void clear_rows(struct queue *q)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++)
            q->grid[i][j] = counter; // EXPR write q->grid[i][j]; read counter; weak q->grid[*][*]
}

/* A variable that becomes what another expression just was: neither may borrow the other's name. */
KEEP void unlink_next(struct node *p)
{
    p->next->prev = NULL; // EXPR read p->next; write p->next->prev
    p = p->next;          // EXPR read p->next
    p->value = 1;         // EXPR write p->value
}

KEEP void old_and_new(struct node *p)
{
    struct node *old = p;
    p = p->next;    // EXPR read p->next; weak old->next
    old->value = 1; // EXPR write old->value
    p->value = 2;   // EXPR write p->value
}

KEEP void late_name(struct queue *q, int i)
{
    q->head->value = i;       // EXPR read q->head; write q->head->value
    struct node *n = q->head; // EXPR read q->head
    n->tags[0] = 1;           // EXPR write n->tags[0]
}

KEEP void later_name(struct node *a, struct node *b, int i)
{
    (i ? a : b)->value = 1; // EXPR write (struct node).value
    struct node *n = i ? a : b;
    n->tags[1] = 2; // EXPR write n->tags[1]
}

/* Functions that are inlined speak their own words. */
static inline __attribute__((always_inline)) void add_to(long *sum_of, long by)
{
    *sum_of += by; // EXPR read *sum_of; write *sum_of
}

static inline __attribute__((always_inline)) void set_value(struct node *target, int value)
{
    target->value = value; // EXPR write target->value
}

static inline __attribute__((always_inline)) struct node *get_head(struct queue *from)
{
    struct node *top = from->head; // EXPR read from->head
    return top;
}

KEEP void inlined(struct queue *q, struct node *n)
{
    add_to(&q->count, 2);
    set_value(n, 3);
    set_value(q->tail, 4);  // EXPR read q->tail
    get_head(q)->value = 5; // EXPR write (struct node).value; weak q->head->value
}

static inline __attribute__((always_inline)) struct node *take(struct queue *from)
{
    struct node *top = from->head; // EXPR read from->head
    from->head = top->next;        // EXPR write from->head; read top->next
    return top;
}

KEEP void taken(struct queue *q)
{
    take(q)->value = 1; // EXPR write (struct node).value
}

static inline __attribute__((always_inline)) void set_both(volatile struct node *x,
                                                           volatile struct node *y)
{
    x->value = 1; // EXPR write x->value
    y->value = 2; // EXPR write y->value
}

KEEP void inlined_often(struct node *a, struct node *b, int i)
{
    while (i--) {
        set_both(a, b);
        set_both(b, a);
        set_both(a, b);
    }
}

static inline __attribute__((always_inline)) int get_ends(const volatile char *bytes)
{
    int first = bytes[0];    // EXPR read *bytes
    return first + bytes[3]; // EXPR read bytes[3]
}

/* Unions. */
union word {
    int number;
    float real;
    char letters[4];
};

struct value {
    int kind;
    union word word;
    union {
        long whole;
        void *pointer;
    };
    union {
        struct {
            int width, height;
        } box;
        int radius;
    } shape;
};

KEEP void unions(struct value *v, float f, void *p)
{
    v->kind = 1;              // EXPR write v->kind
    v->word.number = 2;       // EXPR write v->word.number; weak v->word
    v->word.real = f;         // EXPR write v->word.real; weak v->word
    v->word.letters[1] = 'a'; // EXPR write v->word.letters[1]; weak v->word
    v->pointer = p;           // EXPR write v->pointer; weak *v
    v->whole = counter;       // EXPR read counter; write v->whole; weak *v
    v->shape.box.height = 3;  // EXPR write v->shape.box.height
}

KEEP void number_in_union(struct value *v, int i)
{
    v->word.number = i; // EXPR write v->word.number; weak v->word
}

KEEP void copy_unions(struct value *to, const struct value *from)
{
    to->word = from->word; // EXPR write to->word; read from->word
}

KEEP void same_in_union(struct value *v)
{
    v->shape.radius = 4;    // EXPR write v->shape
    v->shape.box.width = 5; // EXPR write v->shape
}

/* Bit-fields. */
struct flags {
    unsigned on : 1;
    unsigned mode : 3;
    unsigned level : 12;
    int rest;
    unsigned char alone : 4;
};

KEEP int bitfields(struct flags *f, int i)
{
    f->mode = i;     // EXPR read f->mode; write f->mode; weak *f
    f->on = 1;       // EXPR read f->on; write f->on; weak *f
    f->rest = 2;     // EXPR write f->rest
    f->alone = 3;    // EXPR read f->alone; write f->alone; weak *f
    return f->level; // EXPR read f->level; weak *f
}

/* Flexible arrays, old and new. */
struct packet {
    int length;
    char data[];
};

struct old_packet {
    int length;
    int data[1];
};

KEEP int inlined_at_offsets(const struct packet *p)
{
    return get_ends(p->data + 4) + get_ends(p->data + 12);
}

KEEP void packets(struct packet *p, struct old_packet *o, int i)
{
    p->length = i;   // EXPR write p->length
    p->data[i] = 1;  // EXPR write p->data[i]
    p->data[40] = 2; // EXPR write p->data[40]
    o->data[i] = 3;  // EXPR write o->data[i]
}

/* Casts. */
struct animal {
    int legs;
};
struct dog {
    struct animal animal;
    int barks;
};

KEEP void *worker(void *arg)
{
    struct queue *q = arg;
    q->count = 1;                           // EXPR write q->count
    ((struct node *)q->ring[0])->value = 2; // EXPR read q->ring[0]; write q->ring[0]->value
    return NULL;
}

KEEP void casts(struct animal *a, void *anything, char *raw)
{
    a->legs = 4;                          // EXPR write a->legs
    ((struct dog *)a)->barks = 1;         // EXPR write ((struct dog *)a)->barks
    ((struct node *)anything)->value = 2; // EXPR write ((struct node *)anything)->value
    ((struct node *)raw)->next = NULL;    // EXPR write ((struct node *)raw)->next; weak raw[...]
}

#define AT(base, i) ((struct node *)((char *)(base) + (i) * (long)sizeof(struct node)))

KEEP void bytewise(struct node *first, long i)
{
    AT(first, i)->value = 1;     // EXPR write first[i].value
    AT(first, i + 1)->value = 2; // EXPR write first[i+1].value
}

#define node_of(tag) ((struct node *)((char *)(tag)-offsetof(struct node, tags)))

KEEP void container(short *tag)
{
    *tag = 1; // EXPR write *tag
    struct node *n = node_of(tag);
    n->value = 2; // EXPR write n->value
}

/* Typedefs, also of structs without a name; qualifiers. */
typedef struct {
    int width;
    const char *title;
} window;
typedef const volatile window *const window_view;

KEEP int typedefs(window *w, window_view view)
{
    w->width = 1;       // EXPR write w->width
    w->title = "x";     // EXPR write w->title
    return view->width; // EXPR read view->width
}

/* Whole objects. */
KEEP void wholes(struct node *to, const struct node *from, struct queue *q, char *text, size_t n)
{
    *to = *from;                        // EXPR write *to; read *from
    q->pool[1] = *from;                 // EXPR write q->pool[1]; read *from
    memset(q->grid, 0, sizeof q->grid); // EXPR write q->grid
    memcpy(text, "hello", 5);           // EXPR write text[...]; read "hello"
    memset(text, 0, n);                 // EXPR write text[...]
    nodes[4] = *from;                   // EXPR write nodes[4]; read *from
}

/* Local objects whose address leaves. */
KEEP void use(void *p)
{
    *(volatile char *)p = 0; // EXPR write *p
}

KEEP int locals(int i)
{
    struct node here = {0};
    int cells[4] = {0};
    use(&here);
    use(cells);
    here.value = i; // EXPR write here.value; weak (struct node).value
    cells[i] = 2;   // EXPR write cells[i]
    use(&here);
    return cells[i & 1]; // EXPR read cells[...]
}

/* Choices. */
KEEP void choose(struct queue *q, struct node *other, int i)
{
    struct node *n = i ? q->head : q->tail;        // EXPR read q->head; read q->tail; weak *q
    n->value = 1;                                  // EXPR write n->value
    (i ? q->head : other)->value = 2;              // EXPR read q->head; write (struct node).value
    *(i ? &q->stats.reads : &q->stats.writes) = 3; // EXPR write q->stats
}

/* Two structs of one shape: the name of a member is that of its own struct. */
struct point {
    int x, y;
};
struct size {
    int width, height;
};

KEEP void shapes(struct point *p, struct size *s)
{
    p->y = 1;      // EXPR write p->y
    s->height = 2; // EXPR write s->height
}

/* Names that are too long to help give way to the type. */
struct link {
    struct link *a_member_with_a_long_name;
    int end;
};

KEEP void long_names(struct link *a_parameter_with_a_long_name)
{
    /* clang-format off */
    a_parameter_with_a_long_name->a_member_with_a_long_name->a_member_with_a_long_name->end = 1; // EXPR write (struct link).end; read (struct link).a_member_with_a_long_name; read a_parameter_with_a_long_name->a_member_with_a_long_name
    /* clang-format on */
}

/* What a call returns has no name, only a type. */
KEEP struct node *make(void)
{
    return malloc(sizeof(struct node));
}

KEEP void made(void)
{
    make()->value = 1; // EXPR write (struct node).value
    struct node *n = make();
    n->value = 2; // EXPR write n->value
}
