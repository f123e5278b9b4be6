// Runs the program many times for one start, for the Python tests (tests/support/fork_server.py): most of the CPU time of a short command
// is the registration of libtorch's operators before `main`. Preloaded with LD_PRELOAD, this library wraps `main` of the unchanged program:
// the process waits for requests on a socket and forks twice for each one: a child that reports the process id and the exit status, and
// its child, which calls the program's `main` with the arguments, environment and standard descriptors of the request. One thread; the
// only memory is that of a request.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

typedef int (*Main)(int, char**, char**);
static Main program_main;

static void fail(const char* what) {
  fprintf(stderr, "fork server: %s: %s\n", what, strerror(errno));
  _exit(125);
}

// Sizes of a request; the strings follow, each with its terminating zero: arguments first, then the environment.
struct Header {
  uint32_t bytes, arguments, variables;
};

// The program's standard descriptors, and the socket for its process id and status.
enum { kInput, kOutput, kErrors, kStatus, kDescriptors };

// Returns 0 when the tests have closed their end.
static int receive_header(int connection, struct Header* header, int descriptors[kDescriptors]) {
  char control[CMSG_SPACE(kDescriptors * sizeof(int))];
  struct iovec part = {header, sizeof *header};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t count = recvmsg(connection, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
  if (count == 0) return 0;
  struct cmsghdr* attached = CMSG_FIRSTHDR(&message);
  if (count != (ssize_t)sizeof *header || attached == NULL || attached->cmsg_len != CMSG_LEN(kDescriptors * sizeof(int))) fail("receive a request");
  memcpy(descriptors, CMSG_DATA(attached), kDescriptors * sizeof(int));
  return 1;
}

static char** split(char** text, uint32_t count) {
  char** words = calloc(count + 1, sizeof *words);
  if (words == NULL) fail("allocate a request");
  for (uint32_t i = 0; i < count; ++i) {
    words[i] = *text;
    *text += strlen(*text) + 1;
  }
  return words;
}

static void close_all(const int descriptors[], int count) {
  for (int i = 0; i < count; ++i) close(descriptors[i]);
}

static void report(int status_socket, int32_t number) {
  if (send(status_socket, &number, sizeof number, MSG_NOSIGNAL) != (ssize_t)sizeof number) _exit(0);  // nobody listens any more
}

static int run_program(const struct Header* header, char* text, const int descriptors[kDescriptors]) {
  for (int standard = 0; standard < 3; ++standard) {
    if (dup2(descriptors[standard], standard) < 0) fail("redirect a standard descriptor");
  }
  close_all(descriptors, kDescriptors);
  char** arguments = split(&text, header->arguments);
  environ = split(&text, header->variables);
  return program_main((int)header->arguments, arguments, environ);
}

static int run_and_report(const struct Header* header, char* text, const int descriptors[kDescriptors]) {
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) return run_program(header, text, descriptors);
  close_all(descriptors, kStatus);
  report(descriptors[kStatus], child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  report(descriptors[kStatus], status);
  _exit(0);
}

static int serve(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  const char* descriptor = getenv("FORK_SERVER_SOCKET");
  if (descriptor == NULL) fail("find the socket");
  int connection = atoi(descriptor);
  struct Header header;
  int descriptors[kDescriptors];
  while (receive_header(connection, &header, descriptors)) {
    char* text = malloc(header.bytes + 1);
    if (text == NULL) fail("allocate a request");
    if (recv(connection, text, header.bytes, MSG_WAITALL) != (ssize_t)header.bytes) fail("receive a request");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
      close(connection);
      return run_and_report(&header, text, descriptors);
    }
    free(text);
    close_all(descriptors, kDescriptors);
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
  }
  alarm(5);  // ends the wait for programs that a test has left running
  while (waitpid(-1, NULL, 0) > 0) {
  }
  _exit(0);
}

int __libc_start_main(Main main, int argc, char** argv, void (*init)(void), void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  typedef int (*Start)(Main, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  Start start = (Start)dlsym(RTLD_NEXT, "__libc_start_main");
  program_main = main;
  return start(serve, argc, argv, init, fini, loader_fini, stack_end);
}
