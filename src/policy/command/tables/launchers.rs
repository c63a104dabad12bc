//! Programs that start another one which their own words name: `timeout 60 pytest`, `sudo -nu a b`.
//!
//! Data only. `wrappers` says which of it a rule may allow, and `launched` what rules that refuse
//! find behind it: to them an option that is not listed may take a value or none.

use crate::command::tables::launcher::{
    FirstWord, InnerForm, Launcher, PYTHON, container, launcher, marked, mise, module, modules,
    other, plain, runner, second, switch_user, tmux,
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
        ..plain(
            "timeout",
            "-k= --kill-after= -s= --signal= --preserve-status --foreground -v --verbose",
            "-f -p",
        )
    },
    plain("nice", "-n= --adjustment= -#", ""),
    plain("ionice", "-c= -n= -t", "--class= --classdata= --ignore"),
    plain("nohup", "", ""),
    plain("stdbuf", "-i= -o= -e= --input= --output= --error=", ""),
    plain("command", "", "-p"),
    Launcher {
        first: FirstWord::Variables,
        scripts: "-S --split-string",
        ..plain(
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
    module("python"),
    module("python3"),
    // What follows is for rules that refuse.
    Launcher { scripts: "-c --call", ..other("npm x", NPX) },
    marked("npm explore", ""),
    modules("coverage run", ""),
    modules("pypy", PYTHON),
    modules("pypy3", PYTHON),
    modules("python2", PYTHON),
    launcher("xargs", None, [XARGS, XARGS_OTHER]),
    Launcher { form: InnerForm::Script, ..other("parallel", PARALLEL) },
    Launcher { form: InnerForm::Script, ..other("sem", PARALLEL) },
    other("builtin", ""),
    other("coproc", ""),
    other("exec", "-a= -c -l"),
    other("time", "-f= -o= --format= --output= -a -p -q -v --append --portability --verbose"),
    Launcher { form: InnerForm::Script, ..other("eval", "") },
    Launcher { form: InnerForm::Scripts, ..other("trap", "-l -p -P") },
    Launcher {
        form: InnerForm::Script,
        ..other("watch", "-n= --interval= -q= --equexit= -d=? -b -c -C -e -g -p -r -t -w -x")
    },
    other("busybox", ""),
    other("toybox", ""),
    other("chronic", "-v -e"),
    other("ifne", "-n"),
    other("retry", ""),
    other("setsid", "-c -f -w --ctty --fork --wait"),
    other("unbuffer", "-p"),
    other("rlwrap", ""),
    second("taskset", "-a -c -p --all-tasks --cpu-list --pid"),
    second(
        "chrt",
        "-T= -P= -D= --sched-runtime= --sched-period= --sched-deadline= -a -b -d -f -i -m -o \
             -p -r -R -v --all-tasks --batch --deadline --fifo --idle --other --pid --rr \
             --reset-on-fork --verbose",
    ),
    Launcher {
        first: FirstWord::Words(1),
        scripts: "-c --command",
        ..other(
            "flock",
            "-w= -E= -c= --wait= --timeout= --conflict-exit-code= --command= -e -x -s -n -u -o -F \
             -v --shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose",
        )
    },
    second("chroot", "--userspec= --groups="),
    other("prlimit", "--pid= -p= -v --verbose --noheadings --raw"),
    other("choom", "-n= --adjust="),
    other("numactl", "-m= -N= -C= -p= --membind= --cpunodebind= --physcpubind= --preferred="),
    other("cgexec", "-g= --sticky"),
    second("setarch", ""),
    other("setarch", "-R -B -F -I -L -S -T -X -Z -v --addr-no-randomize --verbose"),
    other("linux32", "-R -v"),
    other("linux64", "-R -v"),
    other(
        "sudo",
        "-u= -g= -p= -C= -D= -R= -T= -U= -r= -t= --user= --group= --host= --prompt= --chdir= \
         --chroot= --close-from= --command-timeout= --other-user= --role= --type= -A -b -B -E -e \
         -H -i -K -k -l -n -N -P -S -s -V -v --askpass --background --bell --preserve-env=? \
         --set-home --login --reset-timestamp --non-interactive --no-update --preserve-groups \
         --stdin --shell",
    ),
    other("doas", "-u= -C= -n -s -L"),
    other("pkexec", "--user= --disable-internal-agent --keep-cwd"),
    other("gosu", ""),
    second("gosu", ""),
    second("su-exec", ""),
    switch_user("su"),
    switch_user("runuser"),
    other("runuser", "-u= --user= -c= -g= -G= -s= -w= -l -m -p -P -f"),
    Launcher {
        first: FirstWord::Words(1),
        form: InnerForm::Script,
        scripts: "-c",
        ..other("sg", "-c=")
    },
    Launcher {
        first: FirstWord::Words(1),
        form: InnerForm::Script,
        ..other(
            "ssh",
            "-b= -B= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -P= -p= -Q= -R= -S= -W= \
             -w= -4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y",
        )
    },
    Launcher {
        first: FirstWord::Words(1),
        scripts: "-c --command",
        ..other(
            "script",
            "-c= -B= -E= -I= -O= -T= -m= -o= --command= --echo= --log-in= --log-out= --log-io= \
             --log-timing= --logging-format= --output-limit= -t=? --timing=? -a -e -f -q --append \
             --return --flush --force --quiet",
        )
    },
    other(
        "strace",
        "-o= -e= -s= -E= -a= -b= -O= -S= -u= -P= -p= -I= -X= -U= -f -F -c -C -d -D -h -i -k -n -N \
         -q -r -t -T -v -V -w -x -y -z -Z -A",
    ),
    other(
        "ltrace",
        "-o= -e= -s= -n= -p= -u= -a= -A= -D= -F= -l= -x= -w= -f -c -C -i -L -r -S -t -T -b -h -V",
    ),
    other("perf stat", PERF),
    other("perf record", PERF),
    other("perf trace", PERF),
    other("perf mem record", PERF),
    other("perf c2c record", PERF),
    other("rr", ""),
    other("rr record", ""),
    other("uftrace", ""),
    other("uftrace record", ""),
    other("heaptrack", "-o= --output= -r -d --raw --debug"),
    second("kcov", ""),
    Launcher { first: FirstWord::Mark("--args -args"), ..other("gdb", "") },
    marked("lldb", ""),
    other(
        "unshare",
        "-m=? -u=? -i=? -n=? -p=? -U=? -C=? -T=? --mount=? --uts=? --ipc=? --net=? --pid=? \
         --user=? --cgroup=? --time=? --mount-proc=? --kill-child=? -R= -w= -S= -G= --root= --wd= \
         --setuid= --setgid= --map-user= --map-group= --map-users= --map-groups= --propagation= \
         --setgroups= -f -r -c --fork --map-root-user --map-current-user --map-auto \
         --keep-caps",
    ),
    other(
        "nsenter",
        "-t= -S= -G= --target= --setuid= --setgid= -m=? -u=? -i=? -n=? -p=? -C=? -U=? -T=? -r=? \
         -w=? --mount=? --uts=? --ipc=? --net=? --pid=? --cgroup=? --user=? --time=? --root=? \
         --wd=? -a -e -F -Z --all --env --no-fork --preserve-credentials",
    ),
    other(
        "setpriv",
        "--reuid= --regid= --ruid= --rgid= --euid= --egid= --groups= --inh-caps= --ambient-caps= \
         --bounding-set= --securebits= --pdeathsig= --ptracer= --selinux-label= \
         --apparmor-profile= --landlock-access= --landlock-rule= --seccomp-filter= --clear-groups \
         --keep-groups --init-groups --no-new-privs --nnp --reset-env -d --dump",
    ),
    other(
        "bwrap",
        "--bind== --bind-try== --dev-bind== --dev-bind-try== --ro-bind== --ro-bind-try== \
         --symlink== --setenv== --file== --bind-data== --ro-bind-data== --chmod== --dev= --proc= \
         --tmpfs= --dir= --mqueue= --chdir= --unsetenv= --uid= --gid= --hostname= --lock-file= \
         --remount-ro= --seccomp= --cap-add= --cap-drop= --perms= --size= --args= --unshare-all \
         --unshare-user --unshare-net --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup \
         --share-net --die-with-parent --new-session --clearenv --as-pid-1",
    ),
    other("firejail", ""),
    other("proot", "-b= -r= -w= -q= -k= -0 -S= -R= --rootfs= --bind= --cwd="),
    other("fakeroot", "-l= -s= -i= -b= -u --lib= --faked="),
    other("fakechroot", ""),
    second("faketime", "-f -m -p="),
    other("eatmydata", ""),
    other("torsocks", ""),
    other("torify", ""),
    other("proxychains", "-f= -q"),
    other("proxychains4", "-f= -q"),
    other("tini", "-p= -e= -s -v -g -w"),
    other("dumb-init", "-r= --rewrite= -c -v --single-child --verbose"),
    other("catatonit", ""),
    other("catchsegv", ""),
    other("ld.so", LOADER),
    other("ld-linux.so.2", LOADER),
    other("ld-linux-x86-64.so.2", LOADER),
    other("ld-linux-aarch64.so.1", LOADER),
    other("ld-musl-x86_64.so.1", LOADER),
    other("ld-musl-aarch64.so.1", LOADER),
    other("xvfb-run", "-n= -s= -e= -f= -p= -w= -a --server-num= --server-args= --auto-servernum"),
    other("dbus-run-session", "--config-file= --dbus-daemon="),
    other("dbus-launch", ""),
    other("systemd-inhibit", ""),
    other(
        "systemd-run",
        "-p= -u= -M= -H= -E= --unit= --property= --slice= --description= --uid= --gid= --nice= \
         --working-directory= --setenv= --machine= --host= --service-type= -P -t -q -G -d -S -r \
         --user --system --scope --pty --pipe --wait --collect --quiet --no-block --same-dir",
    ),
    Launcher {
        first: FirstWord::Mark("--"),
        scripts: "-a -x --startas --exec",
        ..other("start-stop-daemon", "")
    },
    other("screen", "-S= -t= -T= -c= -e= -h= -p= -s= -L -d -D -m -r -R -x -q -A -U -a -O"),
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
    Launcher { scripts: "-s", ..other("entr", "-a -c -d -n -p -r -s -x -z") },
    Launcher { form: InnerForm::Script, ..other("watchexec", "-e= -w= -i= -f= -d= -s= -q -r -c") },
    Launcher { scripts: "-x --exec", ..other("nodemon", "-x= --exec= -e= -w= --ext= --watch= -q") },
    marked("reflex", "-r= -g= -R= -G= -s -d="),
    Launcher { scripts: "-s --shell", ..other("cargo watch", "-s= --shell= -x= --exec= -w= -i=") },
    Launcher {
        form: InnerForm::Scripts,
        scripts: "-p --prepare -s --setup -c --cleanup --conclude",
        ..other(
            "hyperfine",
            "-w= -r= -m= -M= -p= -s= -c= -n= -S= -u= --warmup= --runs= --min-runs= --max-runs= \
             --prepare= --setup= --cleanup= --conclude= --command-name= --shell= --export-json= \
             --export-csv= --export-markdown= --style= --input= --output= -i -N --ignore-failure \
             --show-output",
        )
    },
    Launcher {
        form: InnerForm::Scripts,
        ..other("concurrently", "-n= -c= -m= -p= -k -r -s= --names= --max-processes= --prefix=")
    },
    other("cross-env", ""),
    Launcher { form: InnerForm::Script, ..other("cross-env-shell", "") },
    other("env-cmd", "-f= -e= -r= --file= --environments= --fallback --silent"),
    other("dotenv", "-f= -e= -c= -p= -v= -o --file= --override"),
    other("dotenv run", "-f= -q= -e= --file= --quote= --export= --override --no-override"),
    other("dotenvx run", "-f= -e= -q --env-file= --env= --overload --quiet"),
    marked("op run", "--env-file= --account="),
    Launcher {
        first: FirstWord::Mark("--"),
        scripts: "--command",
        ..other("doppler run", "-p= -c= -t= --project= --config= --token= --command=")
    },
    marked("aws-vault exec", "-d= --duration= -n -j"),
    other("corepack", ""),
    other("bunx", "-p= --package= --bun --silent --verbose"),
    other("bun x", "-p= --package= --bun --silent --verbose"),
    other("pnpx", "--package= -s --silent"),
    Launcher {
        scripts: "-c --shell-mode",
        ..other("pnpm dlx", "--package= -s --silent --allow-build=")
    },
    other("yarn dlx", "-p= --package= -q --quiet"),
    marked("lerna exec", ""),
    marked("nx exec", ""),
    other("volta run", "--node= --npm= --pnpm= --yarn= --no-yarn --bundled-npm"),
    other("fnm exec", "--using="),
    second("nvm exec", "--silent"),
    other("nodenv exec", ""),
    other("pipenv run", "-q -v --quiet --verbose --python="),
    other("pipx run", "--spec= --python= --pip-args= --index-url= -q -v --no-cache --verbose"),
    other("hatch run", ""),
    other("rye run", "-l --list --pyproject="),
    other("uv tool run", UV),
    other("uvx", UV),
    other("tox exec", "-e= -q -v"),
    marked("tox exec", "-e= -q -v"),
    other("conda run", "-n= -p= --name= --prefix= --cwd= -v --no-capture-output --live-stream"),
    other("mamba run", "-n= -p= --name= --prefix= --cwd= -v --no-capture-output --live-stream"),
    other("micromamba run", "-n= -p= -r= --name= --prefix= --cwd= -v"),
    other("pixi run", "-e= --environment= --manifest-path= --frozen --locked -q -v"),
    other("pyenv exec", ""),
    other("rbenv exec", ""),
    other("goenv exec", ""),
    other("jenv exec", ""),
    other("plenv exec", ""),
    other("asdf exec", ""),
    mise("mise exec"),
    mise("mise x"),
    mise("rtx exec"),
    second("direnv exec", ""),
    second("rustup run", "--install"),
    other("composer exec", "-l -n -q -v -d= --working-dir="),
    marked("opam exec", "--switch="),
    marked("stack exec", "--package="),
    marked("cabal exec", ""),
    marked("dune exec", ""),
    other("devbox run", "-c= -e= -q --config= --env="),
    Launcher { first: FirstWord::Mark("-c --command"), ..other("nix develop", "") },
    Launcher { first: FirstWord::Mark("-c --command"), ..other("nix shell", "") },
    Launcher { scripts: "--run --command", ..other("nix-shell", "-p=") },
    marked("guix shell", ""),
    Launcher { scripts: "-c --command", ..other("vagrant ssh", "-c= --command=") },
    other("git bisect run", "-C= -c= --git-dir= --work-tree= --namespace= -P --no-pager"),
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
    marked("kubectl exec", "-n= -c= -f= -i -t -q"),
    marked("kubectl run", "-n= -i -t -q --image= --rm"),
];

const PERF: &str = "-e= -o= -r= -p= -C= -c= -F= -x= -I= -D= --event= --output= --repeat= --count= \
                    --freq= --call-graph= --field-separator= --cpu= -a -B -d -g -i -n -q -v \
                    --all-cpus --big-num --detailed --null --quiet --verbose --per-core";
const LOADER: &str = "--library-path= --preload= --audit= --argv0= --inhibit-rpath= \
                      --inhibit-cache --list";
