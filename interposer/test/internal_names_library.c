/* A library whose function frees by the C library's internal name. */
void __libc_free(void *object);

void library_free(void *object);

void library_free(void *object) { __libc_free(object); }
