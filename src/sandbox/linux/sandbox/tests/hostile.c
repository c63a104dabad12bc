/* A program that tries one way out, named by its first argument. It ends with 0 when it got out, 10 when it was not permitted,
   and 11 when something else stopped it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int end(long result) {
    if (result >= 0) return 0;
    printf("%s\n", strerror(errno));
    return errno == EPERM || errno == EACCES ? 10 : 11;
}

static int v4(int kind, int port) {
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int s = socket(AF_INET, kind, 0);
    if (s < 0 || connect(s, (void *)&to, sizeof to) < 0) return end(-1);
    send(s, "q", 1, 0);
    return end(send(s, "q", 1, 0));
}

static int v6(int port) {
    struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int s = socket(AF_INET6, SOCK_STREAM, 0);
    return end(s < 0 ? -1 : connect(s, (void *)&to, sizeof to));
}

/* Data sent along with the first packet: no connect() is called. */
static int fastopen(int port) {
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int s = socket(AF_INET, SOCK_STREAM, 0);
    return end(s < 0 ? -1 : sendto(s, "q", 1, MSG_FASTOPEN, (void *)&to, sizeof to));
}

/* The same said in other words. */
static int fastopen_message(int port, int many) {
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct iovec data = { "q", 1 };
    struct mmsghdr message = { .msg_hdr = { .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &data, .msg_iovlen = 1, .msg_flags = MSG_FASTOPEN } };
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0) return end(-1);
    return end(many ? sendmmsg(s, &message, 1, MSG_FASTOPEN) : sendmsg(s, &message.msg_hdr, MSG_FASTOPEN));
}

/* Lets go of the connection there is, and makes another one. */
static int reconnect(int port) {
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr none = { .sa_family = AF_UNSPEC };
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0) return end(-1);
    connect(s, &none, sizeof none);
    shutdown(s, SHUT_RDWR);
    return end(connect(s, (void *)&to, sizeof to));
}

/* Changes the address while the call is looked at. */
// Where one processor serves both, the other may not run for many tries.
static int race(int port, int most) {
    struct sockaddr_in proxy = { .sin_family = AF_INET, .sin_port = htons(3128), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    volatile int *begun = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    volatile struct sockaddr_in *to = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *to = proxy;
    pid_t child = fork();
    if (child == 0)
        for (*begun = 1;;) to->sin_port = to->sin_port == htons(port) ? htons(3128) : htons(port);
    int got = -1;
    while (!*begun) sched_yield();
    for (int tries = 0; tries < most && got < 0; tries++) {
        sched_yield();
        int s = socket(AF_INET, SOCK_STREAM, 0);
        if (s < 0) continue;
        struct sockaddr_in peer;
        socklen_t length = sizeof peer;
        connect(s, (void *)to, sizeof *to);
        if (getpeername(s, (void *)&peer, &length) == 0 && peer.sin_port == htons(port)) got = 0;
        close(s);
    }
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
    errno = EPERM;
    return end(got);
}

/* Waits for others to connect. */
static int wait_for_others(void) {
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int s = socket(AF_INET, SOCK_STREAM, 0);
    return end(s < 0 || bind(s, (void *)&at, sizeof at) < 0 ? -1 : listen(s, 1));
}

/* Chooses the way that what is sent takes. */
static int setting(int level, int name, const void *value, socklen_t length) {
    int s = socket(AF_INET, SOCK_STREAM, 0);
    return end(s < 0 ? -1 : setsockopt(s, level, name, value, length));
}

static int named(const char *name, int hidden) {
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    strncpy(to.sun_path + hidden, name, sizeof to.sun_path - 2);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + hidden + strlen(name);
    return end(s < 0 ? -1 : connect(s, (void *)&to, length));
}

static int kind(int family, int type, int protocol) { return end(socket(family, type, protocol)); }

static int read_memory(pid_t victim) {
    char byte;
    struct iovec here = { &byte, 1 }, there = { (void *)environ, 1 };
    long got = process_vm_readv(victim, &here, 1, &there, 1, 0);
    return end(got < 0 && errno == EFAULT ? 0 : got);
}

static int terminal(void) { return end(ioctl(0, TIOCSTI, "x")); }

static int descriptors(void) {
    for (int fd = 3; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0) return 0;
    errno = EPERM;
    return end(-1);
}

int main(int count, char **args) {
    const char *way = args[1];
    const char *what = count > 2 ? args[2] : "";
    int number = atoi(what);
    if (!strcmp(way, "tcp")) return v4(SOCK_STREAM, number);
    if (!strcmp(way, "udp")) return v4(SOCK_DGRAM, number);
    if (!strcmp(way, "tcp6")) return v6(number);
    if (!strcmp(way, "fastopen")) return fastopen(number);
    if (!strcmp(way, "fastopen-message")) return fastopen_message(number, 0);
    if (!strcmp(way, "fastopen-messages")) return fastopen_message(number, 1);
    if (!strcmp(way, "reconnect")) return reconnect(number);
    if (!strcmp(way, "race")) return race(number, count > 3 ? atoi(args[3]) : 500);
    if (!strcmp(way, "wait-for-others")) return wait_for_others();
    if (!strcmp(way, "route")) return setting(IPPROTO_IP, IP_OPTIONS, "\x83\x07\x04\x7f\x00\x00\x02\x00", 8);
    if (!strcmp(way, "fast-connect")) return setting(IPPROTO_TCP, 30, &(int){ 1 }, sizeof(int));
    if (!strcmp(way, "named")) return named(what, 0);
    if (!strcmp(way, "hidden-name")) return named(what, 1);
    if (!strcmp(way, "raw")) return kind(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    if (!strcmp(way, "raw6")) return kind(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
    if (!strcmp(way, "packet")) return kind(AF_PACKET, SOCK_RAW, 0);
    if (!strcmp(way, "old-packet")) return kind(AF_INET, 10, 0);
    if (!strcmp(way, "vsock")) return kind(AF_VSOCK, SOCK_STREAM, 0);
    if (!strcmp(way, "bluetooth")) return kind(31, SOCK_RAW, 0);
    if (!strcmp(way, "crypto")) return kind(38, SOCK_SEQPACKET, 0);
    if (!strcmp(way, "audit")) return kind(AF_NETLINK, SOCK_RAW, 9);
    if (!strcmp(way, "trace")) return end(ptrace(PTRACE_SEIZE, number, 0, 0));
    if (!strcmp(way, "signal")) return end(kill(number, 0));
    if (!strcmp(way, "signal-all")) return end(kill(-1, 0));
    if (!strcmp(way, "read-memory")) return read_memory(number);
    if (!strcmp(way, "pidfd")) {
        long fd = syscall(SYS_pidfd_open, number, 0);
        return end(fd < 0 ? -1 : syscall(438 /* pidfd_getfd */, fd, 0, 0));
    }
    if (!strcmp(way, "write")) return end(open(what, O_WRONLY | O_CREAT, 0600));
    if (!strcmp(way, "truncate")) return end(truncate(what, 0));
    if (!strcmp(way, "read")) {
        char byte;
        int fd = open(what, O_RDONLY);
        errno = EACCES;
        return end(fd >= 0 && read(fd, &byte, 1) == 1 ? 0 : -1);
    }
    if (!strcmp(way, "link")) return end(link("src/a", what));
    if (!strcmp(way, "link-in")) return end(link(what, "src/link"));
    if (!strcmp(way, "rename")) return end(rename("src/a", what));
    if (!strcmp(way, "exchange")) return end(syscall(SYS_renameat2, AT_FDCWD, "src", AT_FDCWD, what, 2));
    if (!strcmp(way, "mount")) return end(syscall(SYS_mount, "x", "src", "tmpfs", 0, 0));
    if (!strcmp(way, "unmount")) return end(syscall(SYS_umount2, what, 2));
    if (!strcmp(way, "open-tree")) return end(syscall(428, AT_FDCWD, "src", 1));
    if (!strcmp(way, "fsopen")) return end(syscall(430, "tmpfs", 0));
    if (!strcmp(way, "pivot")) return end(syscall(SYS_pivot_root, ".", "."));
    if (!strcmp(way, "chroot")) return end(chroot("src"));
    if (!strcmp(way, "unshare-user")) return end(unshare(CLONE_NEWUSER));
    if (!strcmp(way, "clone-user")) {
        long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
        if (child == 0) _exit(0);
        return end(child);
    }
    if (!strcmp(way, "clone3")) {
        unsigned long long how[8] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
        long child = syscall(SYS_clone3, how, sizeof how);
        if (child == 0) _exit(0);
        if (child < 0 && errno == ENOSYS) errno = EPERM;
        return end(child);
    }
    if (!strcmp(way, "setns")) return end(setns(open("/proc/self/ns/net", O_RDONLY), 0));
    if (!strcmp(way, "keyctl")) return end(syscall(SYS_keyctl, 0, -3, 1));
    if (!strcmp(way, "add-key")) return end(syscall(SYS_add_key, "user", "locum", "x", 1, -2));
    if (!strcmp(way, "io-uring")) {
        char setup[120] = { 0 };
        return end(syscall(SYS_io_uring_setup, 1, setup));
    }
    if (!strcmp(way, "userfaultfd")) return end(syscall(SYS_userfaultfd, 1));
    if (!strcmp(way, "bpf")) return end(syscall(SYS_bpf, 0, 0, 0));
    if (!strcmp(way, "perf")) return end(syscall(SYS_perf_event_open, 0, 0, -1, -1, 0));
    if (!strcmp(way, "kexec")) return end(syscall(SYS_kexec_load, 0, 0, 0, 0));
    if (!strcmp(way, "module")) return end(syscall(SYS_init_module, 0, 0, ""));
    if (!strcmp(way, "handle")) return end(syscall(SYS_open_by_handle_at, AT_FDCWD, 0, 0));
    if (!strcmp(way, "clock")) return end(syscall(SYS_settimeofday, 0, 0));
    if (!strcmp(way, "hostname")) return end(sethostname("locum", 5));
    if (!strcmp(way, "reboot")) return end(syscall(SYS_reboot, 0, 0, 0, 0));
    if (!strcmp(way, "priority")) return end(syscall(SYS_prlimit64, number, 7, (unsigned long long[]){ 9, 9 }, 0));
    if (!strcmp(way, "second-numbering")) {
        long fd = syscall(0x40000000 + SYS_socket, AF_UNIX, SOCK_STREAM, 0);
        if (fd < 0 && errno == ENOSYS) errno = EPERM;
        return end(fd);
    }
    if (!strcmp(way, "terminal")) return terminal();
    if (!strcmp(way, "descriptors")) return descriptors();
    if (!strcmp(way, "privileges")) {
        /* Asks to get them back; without them asking is pointless. */
        errno = EPERM;
        return end(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? -1 : 0);
    }
    if (!strcmp(way, "crowd")) {
        /* So many and no more: what does not hold them must not cost the machine that tries it. */
        for (int started = 0; started < number; started++) {
            pid_t child = fork();
            if (child < 0) return 10;
            if (child == 0)
                for (;;) pause();
        }
        for (;;) pause();
    }
    if (!strcmp(way, "hide")) {
        /* Leaves its session, its group, its parent, and stops. */
        for (int depth = 0; depth < 3; depth++) {
            if (fork()) _exit(0);
            setsid();
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
        }
        raise(SIGSTOP);
        for (;;) pause();
    }
    if (!strcmp(way, "memory-bomb"))
        for (;;) {
            char *block = malloc(64 << 20);
            if (!block) return 10;
            memset(block, 1, 64 << 20);
        }
    if (!strcmp(way, "file-bomb")) {
        signal(SIGXFSZ, SIG_IGN);
        int fd = open("src/bomb", O_WRONLY | O_CREAT, 0600);
        long wrote = pwrite(fd, "x", 1, (1LL << 40));
        if (wrote < 0 && errno == EFBIG) errno = EPERM;
        return end(wrote);
    }
    if (!strcmp(way, "descriptor-bomb")) {
        for (long count = 0; count < 200000; count++)
            if (dup(0) < 0) {
                if (errno == EMFILE) errno = EPERM;
                return end(-1);
            }
        return 0;
    }
    return 12;
}
