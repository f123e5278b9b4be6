// Runs the program many times for one start, for the Python tests (tests/support/fork_server.py): most of the CPU time of a short command
// is the registration of libtorch's operators before `main`. Preloaded with LD_PRELOAD, this library wraps `main` of the unchanged program:
// the process waits for requests on a socket and forks for each one; the child calls the program's `main` with the arguments, environment
// and output descriptors of the request. One thread; the only memory is that of a request.
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

// Returns 0 when the tests have closed their end.
static int receive_header(int connection, struct Header* header, int outputs[2]) {
  char control[CMSG_SPACE(2 * sizeof(int))];
  struct iovec part = {header, sizeof *header};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t count = recvmsg(connection, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
  if (count == 0) return 0;
  struct cmsghdr* descriptors = CMSG_FIRSTHDR(&message);
  if (count != (ssize_t)sizeof *header || descriptors == NULL || descriptors->cmsg_len != CMSG_LEN(2 * sizeof(int))) fail("receive a request");
  memcpy(outputs, CMSG_DATA(descriptors), 2 * sizeof(int));
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

static void send_number(int connection, int32_t number) {
  if (send(connection, &number, sizeof number, MSG_NOSIGNAL) != (ssize_t)sizeof number) _exit(0);  // nobody listens any more
}

static int run_request(int connection, const struct Header* header, char* text, const int outputs[2]) {
  close(connection);
  int input = open("/dev/null", O_RDONLY);
  if (dup2(input, 0) < 0 || dup2(outputs[0], 1) < 0 || dup2(outputs[1], 2) < 0) fail("redirect output");
  close(input);
  close(outputs[0]);
  close(outputs[1]);
  char** arguments = split(&text, header->arguments);
  environ = split(&text, header->variables);
  return program_main((int)header->arguments, arguments, environ);
}

static int serve(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  const char* descriptor = getenv("FORK_SERVER_SOCKET");
  if (descriptor == NULL) fail("find the socket");
  int connection = atoi(descriptor);
  struct Header header;
  int outputs[2];
  while (receive_header(connection, &header, outputs)) {
    char* text = malloc(header.bytes + 1);
    if (text == NULL) fail("allocate a request");
    if (recv(connection, text, header.bytes, MSG_WAITALL) != (ssize_t)header.bytes) fail("receive a request");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) return run_request(connection, &header, text, outputs);
    free(text);
    close(outputs[0]);
    close(outputs[1]);
    send_number(connection, child);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    send_number(connection, status);
  }
  _exit(0);
}

int __libc_start_main(Main main, int argc, char** argv, void (*init)(void), void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  typedef int (*Start)(Main, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  Start start = (Start)dlsym(RTLD_NEXT, "__libc_start_main");
  program_main = main;
  return start(serve, argc, argv, init, fini, loader_fini, stack_end);
}
