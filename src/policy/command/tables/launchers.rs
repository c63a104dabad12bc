//! Programs that start another one which their own words name: `timeout 60 pytest`, `sudo -nu a b`.
//!
//! Data only. `wrappers` says which of it a rule may allow, and `launched` what rules that refuse
//! find behind it: to them an option that is not listed may take a value or none.

use crate::command::tables::launcher::{
    FirstWord, InnerForm, Launcher, PYTHON, after_dashes, after_options, after_word, container,
    launcher, mise, python, python_like, runner, switch_user, tmux, wrapper,
};

/// Options of `xargs` that are known.
pub(crate) const XARGS: &str = "-0 --null -r --no-run-if-empty -t --verbose -n= -P= -L= -I= \
                                --max-args= --max-procs=";
/// Other options of `xargs`.
const XARGS_OTHER: &str = "-a= -d= -E= -s= -e=? -i=? -l=? --arg-file= --delimiter= --max-chars= \
                           --process-slot-var= -o -p -x --exit --interactive --open-tty";

const UV: &str = "-p= --python= --with= --with-requirements= --with-editable= --from= --index-url= \
                  --extra-index-url= --index= --default-index= --find-links= --env-file= \
                  --project= --directory= --cache-dir= --config-file= -q -v --quiet --verbose \
                  --offline --isolated --no-cache --refresh -U --upgrade";
const NPX: &str = "-p= --package= -w= --workspace= -c= --call= -y --yes -q --quiet -s --silent \
                   --offline --prefer-offline --ignore-existing";
const PARALLEL: &str = "-j= --jobs= -I= -a= --arg-file= --delay= --timeout= -N= -n= -L= -S= -C= \
                        --colsep= --joblog= --results= --retries= --halt= --max-args= \
                        --sshlogin= --id= --semaphorename= -k -q -u -X -m -0 -t -v --keep-order \
                        --dry-run --quote --ungroup --will-cite --bar --eta --progress --tag \
                        --line-buffer --lb --semaphore --fg --bg --wait";

pub(crate) const LAUNCHERS: &[Launcher] = &[
    Launcher {
        first: FirstWord::Duration,
        ..wrapper(
            "timeout",
            "-k= --kill-after= -s= --signal= --preserve-status --foreground -v --verbose",
            "-f -p",
        )
    },
    wrapper("nice", "-n= --adjustment= -#", ""),
    wrapper("ionice", "-c= -n= -t", "--class= --classdata= --ignore"),
    wrapper("nohup", "", ""),
    wrapper("stdbuf", "-i= -o= -e= --input= --output= --error=", ""),
    wrapper("command", "", "-p"),
    Launcher {
        first: FirstWord::Variables,
        scripts: "-S --split-string",
        ..wrapper(
            "env",
            "",
            "-i -0 -v --ignore-environment --null --debug -u= --unset= -C= --chdir= -S= \
             --split-string= --block-signal=? --default-signal=? --ignore-signal=?",
        )
    },
    runner(
        "uv run",
        "--offline --locked --frozen --no-sync --no-project --all-extras --no-extra= --extra= \
         --all-groups --group= --no-group= --only-group= --no-default-groups --dev --no-dev \
         --only-dev --all-packages --package= --isolated --exact --active --no-progress -q \
         --quiet -v --verbose --no-cache --no-env-file --no-config --color= -p= --python=",
        UV,
    ),
    runner(
        "valgrind",
        "-q -v --quiet --verbose --tool= --leak-check= --show-leak-kinds= --show-reachable= \
         --show-possibly-lost= --errors-for-leak-kinds= --track-origins= --track-fds= \
         --undef-value-errors= --error-exitcode= --error-limit= --exit-on-first-error= \
         --num-callers= --trace-children= --child-silent-after-fork= --time-stamp= \
         --gen-suppressions= --max-stackframe= --main-stacksize= --read-var-info= --fair-sched= \
         --redzone-size= --leak-resolution= --expensive-definedness-checks=",
        "",
    ),
    runner("poetry run", "", "-q -n -v --quiet --no-interaction -C= --directory= -P= --project="),
    runner("pdm run", "", "-p= --project= -s --site-packages --no-isolation"),
    runner("bundle exec", "", "--keep-file-descriptors --gemfile="),
    Launcher {
        scripts: "-c --call",
        ..runner("npx", "--no --no-install --offline -q --quiet", NPX)
    },
    Launcher { scripts: "-c --call", ..runner("npm exec", "--offline -s --silent --", NPX) },
    Launcher {
        scripts: "-c --shell-mode",
        ..runner("pnpm exec", "-r --recursive -s --silent", "-F= --filter= -C= --dir= --parallel")
    },
    runner("yarn exec", "--", "-q --quiet"),
    python("python"),
    python("python3"),
    // What follows is for rules that refuse.
    Launcher { scripts: "-c --call", ..after_options("npm x", NPX) },
    after_dashes("npm explore", ""),
    python_like("coverage run", ""),
    python_like("pypy", PYTHON),
    python_like("pypy3", PYTHON),
    python_like("python2", PYTHON),
    launcher("xargs", None, [XARGS, XARGS_OTHER]),
    Launcher { form: InnerForm::Script, ..after_options("parallel", PARALLEL) },
    Launcher { form: InnerForm::Script, ..after_options("sem", PARALLEL) },
    after_options("builtin", ""),
    after_options("coproc", ""),
    after_options("exec", "-a= -c -l"),
    after_options(
        "time",
        "-f= -o= --format= --output= -a -p -q -v --append --portability --verbose",
    ),
    Launcher { form: InnerForm::Script, ..after_options("eval", "") },
    Launcher { form: InnerForm::Scripts, ..after_options("trap", "-l -p -P") },
    Launcher {
        form: InnerForm::Script,
        ..after_options(
            "watch",
            "-n= --interval= -q= --equexit= -d=? -b -c -C -e -g -p -r -t -w -x",
        )
    },
    after_options("busybox", ""),
    after_options("toybox", ""),
    after_options("chronic", "-v -e"),
    after_options("ifne", "-n"),
    after_options("retry", ""),
    after_options("setsid", "-c -f -w --ctty --fork --wait"),
    after_options("unbuffer", "-p"),
    after_options("rlwrap", ""),
    after_word("taskset", "-a -c -p --all-tasks --cpu-list --pid"),
    after_word(
        "chrt",
        "-T= -P= -D= --sched-runtime= --sched-period= --sched-deadline= -a -b -d -f -i -m -o \
             -p -r -R -v --all-tasks --batch --deadline --fifo --idle --other --pid --rr \
             --reset-on-fork --verbose",
    ),
    Launcher {
        first: FirstWord::Words(1),
        scripts: "-c --command",
        ..after_options(
            "flock",
            "-w= -E= -c= --wait= --timeout= --conflict-exit-code= --command= -e -x -s -n -u -o -F \
             -v --shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose",
        )
    },
    after_word("chroot", "--userspec= --groups="),
    after_options("prlimit", "--pid= -p= -v --verbose --noheadings --raw"),
    after_options("choom", "-n= --adjust="),
    after_options(
        "numactl",
        "-m= -N= -C= -p= --membind= --cpunodebind= --physcpubind= --preferred=",
    ),
    after_options("cgexec", "-g= --sticky"),
    after_word("setarch", ""),
    after_options("setarch", "-R -B -F -I -L -S -T -X -Z -v --addr-no-randomize --verbose"),
    after_options("linux32", "-R -v"),
    after_options("linux64", "-R -v"),
    after_options(
        "sudo",
        "-u= -g= -p= -C= -D= -R= -T= -U= -r= -t= --user= --group= --host= --prompt= --chdir= \
         --chroot= --close-from= --command-timeout= --other-user= --role= --type= -A -b -B -E -e \
         -H -i -K -k -l -n -N -P -S -s -V -v --askpass --background --bell --preserve-env=? \
         --set-home --login --reset-timestamp --non-interactive --no-update --preserve-groups \
         --stdin --shell",
    ),
    after_options("doas", "-u= -C= -n -s -L"),
    after_options("pkexec", "--user= --disable-internal-agent --keep-cwd"),
    after_options("gosu", ""),
    after_word("gosu", ""),
    after_word("su-exec", ""),
    switch_user("su"),
    switch_user("runuser"),
    after_options("runuser", "-u= --user= -c= -g= -G= -s= -w= -l -m -p -P -f"),
    Launcher {
        first: FirstWord::Words(1),
        form: InnerForm::Script,
        scripts: "-c",
        ..after_options("sg", "-c=")
    },
    Launcher {
        first: FirstWord::Words(1),
        form: InnerForm::Script,
        ..after_options(
            "ssh",
            "-b= -B= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -P= -p= -Q= -R= -S= -W= \
             -w= -4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y",
        )
    },
    Launcher {
        first: FirstWord::Words(1),
        scripts: "-c --command",
        ..after_options(
            "script",
            "-c= -B= -E= -I= -O= -T= -m= -o= --command= --echo= --log-in= --log-out= --log-io= \
             --log-timing= --logging-format= --output-limit= -t=? --timing=? -a -e -f -q --append \
             --return --flush --force --quiet",
        )
    },
    after_options(
        "strace",
        "-o= -e= -s= -E= -a= -b= -O= -S= -u= -P= -p= -I= -X= -U= -f -F -c -C -d -D -h -i -k -n -N \
         -q -r -t -T -v -V -w -x -y -z -Z -A",
    ),
    after_options(
        "ltrace",
        "-o= -e= -s= -n= -p= -u= -a= -A= -D= -F= -l= -x= -w= -f -c -C -i -L -r -S -t -T -b -h -V",
    ),
    after_options("perf stat", PERF),
    after_options("perf record", PERF),
    after_options("perf trace", PERF),
    after_options("perf mem record", PERF),
    after_options("perf c2c record", PERF),
    after_options("rr", ""),
    after_options("rr record", ""),
    after_options("uftrace", ""),
    after_options("uftrace record", ""),
    after_options("heaptrack", "-o= --output= -r -d --raw --debug"),
    after_word("kcov", ""),
    Launcher { first: FirstWord::Mark("--args -args"), ..after_options("gdb", "") },
    after_dashes("lldb", ""),
    after_options(
        "unshare",
        "-m=? -u=? -i=? -n=? -p=? -U=? -C=? -T=? --mount=? --uts=? --ipc=? --net=? --pid=? \
         --user=? --cgroup=? --time=? --mount-proc=? --kill-child=? -R= -w= -S= -G= --root= --wd= \
         --setuid= --setgid= --map-user= --map-group= --map-users= --map-groups= --propagation= \
         --setgroups= -f -r -c --fork --map-root-user --map-current-user --map-auto \
         --keep-caps",
    ),
    after_options(
        "nsenter",
        "-t= -S= -G= --target= --setuid= --setgid= -m=? -u=? -i=? -n=? -p=? -C=? -U=? -T=? -r=? \
         -w=? --mount=? --uts=? --ipc=? --net=? --pid=? --cgroup=? --user=? --time=? --root=? \
         --wd=? -a -e -F -Z --all --env --no-fork --preserve-credentials",
    ),
    after_options(
        "setpriv",
        "--reuid= --regid= --ruid= --rgid= --euid= --egid= --groups= --inh-caps= --ambient-caps= \
         --bounding-set= --securebits= --pdeathsig= --ptracer= --selinux-label= \
         --apparmor-profile= --landlock-access= --landlock-rule= --seccomp-filter= --clear-groups \
         --keep-groups --init-groups --no-new-privs --nnp --reset-env -d --dump",
    ),
    after_options(
        "bwrap",
        "--bind== --bind-try== --dev-bind== --dev-bind-try== --ro-bind== --ro-bind-try== \
         --symlink== --setenv== --file== --bind-data== --ro-bind-data== --chmod== --dev= --proc= \
         --tmpfs= --dir= --mqueue= --chdir= --unsetenv= --uid= --gid= --hostname= --lock-file= \
         --remount-ro= --seccomp= --cap-add= --cap-drop= --perms= --size= --args= --unshare-all \
         --unshare-user --unshare-net --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup \
         --share-net --die-with-parent --new-session --clearenv --as-pid-1",
    ),
    after_options("firejail", ""),
    after_options("proot", "-b= -r= -w= -q= -k= -0 -S= -R= --rootfs= --bind= --cwd="),
    after_options("fakeroot", "-l= -s= -i= -b= -u --lib= --faked="),
    after_options("fakechroot", ""),
    after_word("faketime", "-f -m -p="),
    after_options("eatmydata", ""),
    after_options("torsocks", ""),
    after_options("torify", ""),
    after_options("proxychains", "-f= -q"),
    after_options("proxychains4", "-f= -q"),
    after_options("tini", "-p= -e= -s -v -g -w"),
    after_options("dumb-init", "-r= --rewrite= -c -v --single-child --verbose"),
    after_options("catatonit", ""),
    after_options("catchsegv", ""),
    after_options("ld.so", LOADER),
    after_options("ld-linux.so.2", LOADER),
    after_options("ld-linux-x86-64.so.2", LOADER),
    after_options("ld-linux-aarch64.so.1", LOADER),
    after_options("ld-musl-x86_64.so.1", LOADER),
    after_options("ld-musl-aarch64.so.1", LOADER),
    after_options(
        "xvfb-run",
        "-n= -s= -e= -f= -p= -w= -a --server-num= --server-args= --auto-servernum",
    ),
    after_options("dbus-run-session", "--config-file= --dbus-daemon="),
    after_options("dbus-launch", ""),
    after_options("systemd-inhibit", ""),
    after_options(
        "systemd-run",
        "-p= -u= -M= -H= -E= --unit= --property= --slice= --description= --uid= --gid= --nice= \
         --working-directory= --setenv= --machine= --host= --service-type= -P -t -q -G -d -S -r \
         --user --system --scope --pty --pipe --wait --collect --quiet --no-block --same-dir",
    ),
    Launcher {
        first: FirstWord::Mark("--"),
        scripts: "-a -x --startas --exec",
        ..after_options("start-stop-daemon", "")
    },
    after_options("screen", "-S= -t= -T= -c= -e= -h= -p= -s= -L -d -D -m -r -R -x -q -A -U -a -O"),
    tmux("tmux new-session"),
    tmux("tmux new"),
    tmux("tmux new-window"),
    tmux("tmux neww"),
    tmux("tmux split-window"),
    tmux("tmux splitw"),
    tmux("tmux respawn-pane"),
    tmux("tmux respawn-window"),
    tmux("tmux run-shell"),
    tmux("tmux run"),
    tmux("tmux send-keys"),
    tmux("tmux send"),
    Launcher { scripts: "-s", ..after_options("entr", "-a -c -d -n -p -r -s -x -z") },
    Launcher {
        form: InnerForm::Script,
        ..after_options("watchexec", "-e= -w= -i= -f= -d= -s= -q -r -c")
    },
    Launcher {
        scripts: "-x --exec",
        ..after_options("nodemon", "-x= --exec= -e= -w= --ext= --watch= -q")
    },
    after_dashes("reflex", "-r= -g= -R= -G= -s -d="),
    Launcher {
        scripts: "-s --shell",
        ..after_options("cargo watch", "-s= --shell= -x= --exec= -w= -i=")
    },
    Launcher {
        form: InnerForm::Scripts,
        scripts: "-p --prepare -s --setup -c --cleanup --conclude",
        ..after_options(
            "hyperfine",
            "-w= -r= -m= -M= -p= -s= -c= -n= -S= -u= --warmup= --runs= --min-runs= --max-runs= \
             --prepare= --setup= --cleanup= --conclude= --command-name= --shell= --export-json= \
             --export-csv= --export-markdown= --style= --input= --output= -i -N --ignore-failure \
             --show-output",
        )
    },
    Launcher {
        form: InnerForm::Scripts,
        ..after_options(
            "concurrently",
            "-n= -c= -m= -p= -k -r -s= --names= --max-processes= --prefix=",
        )
    },
    after_options("cross-env", ""),
    Launcher { form: InnerForm::Script, ..after_options("cross-env-shell", "") },
    after_options("env-cmd", "-f= -e= -r= --file= --environments= --fallback --silent"),
    after_options("dotenv", "-f= -e= -c= -p= -v= -o --file= --override"),
    after_options("dotenv run", "-f= -q= -e= --file= --quote= --export= --override --no-override"),
    after_options("dotenvx run", "-f= -e= -q --env-file= --env= --overload --quiet"),
    after_dashes("op run", "--env-file= --account="),
    Launcher {
        first: FirstWord::Mark("--"),
        scripts: "--command",
        ..after_options("doppler run", "-p= -c= -t= --project= --config= --token= --command=")
    },
    after_dashes("aws-vault exec", "-d= --duration= -n -j"),
    after_options("corepack", ""),
    after_options("bunx", "-p= --package= --bun --silent --verbose"),
    after_options("bun x", "-p= --package= --bun --silent --verbose"),
    after_options("pnpx", "--package= -s --silent"),
    Launcher {
        scripts: "-c --shell-mode",
        ..after_options("pnpm dlx", "--package= -s --silent --allow-build=")
    },
    after_options("yarn dlx", "-p= --package= -q --quiet"),
    after_dashes("lerna exec", ""),
    after_dashes("nx exec", ""),
    after_options("volta run", "--node= --npm= --pnpm= --yarn= --no-yarn --bundled-npm"),
    after_options("fnm exec", "--using="),
    after_word("nvm exec", "--silent"),
    after_options("nodenv exec", ""),
    after_options("pipenv run", "-q -v --quiet --verbose --python="),
    after_options(
        "pipx run",
        "--spec= --python= --pip-args= --index-url= -q -v --no-cache --verbose",
    ),
    after_options("hatch run", ""),
    after_options("rye run", "-l --list --pyproject="),
    after_options("uv tool run", UV),
    after_options("uvx", UV),
    after_options("tox exec", "-e= -q -v"),
    after_dashes("tox exec", "-e= -q -v"),
    after_options(
        "conda run",
        "-n= -p= --name= --prefix= --cwd= -v --no-capture-output --live-stream",
    ),
    after_options(
        "mamba run",
        "-n= -p= --name= --prefix= --cwd= -v --no-capture-output --live-stream",
    ),
    after_options("micromamba run", "-n= -p= -r= --name= --prefix= --cwd= -v"),
    after_options("pixi run", "-e= --environment= --manifest-path= --frozen --locked -q -v"),
    after_options("pyenv exec", ""),
    after_options("rbenv exec", ""),
    after_options("goenv exec", ""),
    after_options("jenv exec", ""),
    after_options("plenv exec", ""),
    after_options("asdf exec", ""),
    mise("mise exec"),
    mise("mise x"),
    mise("rtx exec"),
    after_word("direnv exec", ""),
    after_word("rustup run", "--install"),
    after_options("composer exec", "-l -n -q -v -d= --working-dir="),
    after_dashes("opam exec", "--switch="),
    after_dashes("stack exec", "--package="),
    after_dashes("cabal exec", ""),
    after_dashes("dune exec", ""),
    after_options("devbox run", "-c= -e= -q --config= --env="),
    Launcher { first: FirstWord::Mark("-c --command"), ..after_options("nix develop", "") },
    Launcher { first: FirstWord::Mark("-c --command"), ..after_options("nix shell", "") },
    Launcher { scripts: "--run --command", ..after_options("nix-shell", "-p=") },
    after_dashes("guix shell", ""),
    Launcher { scripts: "-c --command", ..after_options("vagrant ssh", "-c= --command=") },
    after_options("git bisect run", "-C= -c= --git-dir= --work-tree= --namespace= -P --no-pager"),
    container("docker run"),
    container("docker exec"),
    container("docker container run"),
    container("docker container exec"),
    container("docker compose run"),
    container("docker compose exec"),
    container("docker-compose run"),
    container("docker-compose exec"),
    container("podman run"),
    container("podman exec"),
    container("nerdctl run"),
    container("nerdctl exec"),
    after_dashes("kubectl exec", "-n= -c= -f= -i -t -q"),
    after_dashes("kubectl run", "-n= -i -t -q --image= --rm"),
];

const PERF: &str = "-e= -o= -r= -p= -C= -c= -F= -x= -I= -D= --event= --output= --repeat= --count= \
                    --freq= --call-graph= --field-separator= --cpu= -a -B -d -g -i -n -q -v \
                    --all-cpus --big-num --detailed --null --quiet --verbose --per-core";
const LOADER: &str = "--library-path= --preload= --audit= --argv0= --inhibit-rpath= \
                      --inhibit-cache --list";
