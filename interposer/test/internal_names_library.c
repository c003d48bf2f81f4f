/* A library with a function that calls the C library's free by its internal name, __libc_free. */
void __libc_free(void *object);

void library_free(void *object);

void library_free(void *object) { __libc_free(object); }
