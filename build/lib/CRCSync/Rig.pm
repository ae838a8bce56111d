# Starts httpds and relays for the demo and the examples, each in a directory of its own below one temporary directory,
# on free ports of 127.0.0.1, and takes all of it away again: processes, files, the directory. It touches no httpd but
# its own.
#
#   my $rig = CRCSync::Rig->new(modules => DIR);
#   my $far = $rig->httpd(far => "far.conf", flags => ['SERVER'], ports => ['FAR_PORT'], define => {...});
#   $far->{port}{FAR_PORT}, $far->{root}
#   my $relay = $rig->relay(to => $port, rate => 56_000, delay => 300);    # one way, in milliseconds
#   $relay->{port}, $relay->traffic
#   $rig->stop;
package CRCSync::Rig;

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use File::Temp;
use IO::Socket::INET;
use POSIX qw(WNOHANG);
use Time::HiRes qw(sleep time);

my $source = abs_path(dirname(__FILE__) . '/../../..');
my $patience = 30;    # seconds that a start or a stop may take
my $tries    = 8;     # another program may take a port between our look and httpd's start

sub new {
    my ($class, %options) = @_;
    my $apache = find_program(qw(apache2 httpd)) or die "No httpd on this machine: apt-get install apache2\n";
    my $dir = File::Temp::tempdir('crcsync-' . 'X' x 8, TMPDIR => 1);
    my $self = bless {apache => $apache, dir => $dir, processes => [], owner => $$}, $class;
    # httpd's children run as another user.
    chmod 0755, $dir or die "$dir: $!\n";
    if (!eval { $self->link_modules($options{modules}); 1 }) {
        my $why = $@;
        $self->stop;
        die $why;
    }
    return $self;
}

sub dir { return $_[0]{dir} }
sub source { return $source }

sub find_program {
    my @names = @_;
    for my $name (@names) {
        for my $dir (split(/:/, $ENV{PATH} // ''), '/usr/sbin', '/sbin') {
            return "$dir/$name" if -x "$dir/$name" && !-d "$dir/$name";
        }
    }
    return;
}

# Where mod_crccache_*.so are: the directory given (an installation's, or a build tree), else the environment's
# CRCSYNC_MODULES, else where they are installed, else the demo's build tree.
sub module_file {
    my ($name, $given) = @_;
    my @places = grep { defined } $given // $ENV{CRCSYNC_MODULES};
    @places = (httpd_modules(), "$source/_out/demo", "$source/_out/default") if !@places;
    my @files = map { ("$_/$name.so", "$_/$name/$name.so") } @places;
    my ($file) = grep { -f } @files;
    die "There is no $name.so in @places.\nBuild first: build/demo.sh does, or see README.\n" if !$file;
    return abs_path($file);
}

sub httpd_modules {
    return '/usr/lib/apache2/modules' if -d '/usr/lib/apache2/modules';
    my $apxs = find_program(qw(apxs apxs2)) or die "No directory of httpd's modules: apt-get install apache2\n";
    chomp(my $dir = qx($apxs -q LIBEXECDIR));
    return $dir;
}

sub link_modules {
    my ($self, $given) = @_;
    my $links = "$self->{dir}/modules";
    mkdir $links or die "$links: $!\n";
    my %file = map { m{([^/]+)\.so$} ? ($1 => $_) : () } glob httpd_modules() . '/mod_*.so';
    $file{$_} = module_file($_, $given) for qw(mod_crccache_client mod_crccache_server);
    symlink $file{$_}, "$links/$_.so" or die "$links/$_.so: $!\n" for keys %file;
    return;
}

# Starts an httpd named $name with the site file $site in the frame of examples/httpd.conf. `ports` names definitions
# that get free ports; `define` gives others. Returns when the server answers on all of them.
sub httpd {
    my ($self, $name, $site, %options) = @_;
    my $root = "$self->{dir}/$name";
    make_path(map { "$root/$_" } qw(run logs cache htdocs));
    $self->give_to_server("$root/cache", "$root/run");
    symlink "$self->{dir}/modules", "$root/modules" or die "$root/modules: $!\n";
    for my $try (1 .. $tries) {
        my %port;
        @port{@{$options{ports}}} = free_ports(scalar @{$options{ports}});
        my %define = (%{$options{define} // {}}, %port, ROOT => $root, SITE => $site);
        $options{before}->(\%port) if $options{before};
        my @command = (
            $self->{apache}, '-d', $root, '-f', "$source/examples/httpd.conf", '-DFOREGROUND', '-DEXAMPLE',
            (map { "-D$_" } @{$options{flags} // []}),
            (map { ('-C', qq(Define $_ "$define{$_}")) } sort keys %define),
        );
        my $pid = $self->spawn($name, "$root/logs/start.log", @command);
        my $state = wait_until(sub {
            return 'ended' if !$self->alive($pid);
            return -s "$root/run/httpd.pid" && !grep({ !answers($_) } values %port) ? 'up' : undef;
        });
        return {name => $name, root => $root, port => \%port, pid => $pid} if $state && $state eq 'up';
        $self->end($pid);
        my $log = slurp("$root/logs/start.log") . (-e "$root/logs/error.log" ? slurp("$root/logs/error.log") : '');
        die "httpd '$name' does not start:\n$log\n" if $log !~ /Address already in use/ || $try == $tries;
        unlink "$root/logs/start.log", "$root/logs/error.log";
    }
    die "unreachable\n";
}

# Starts a relay to a port of ours and returns it when it has its own port.
sub relay {
    my ($self, %options) = @_;
    my $dir = "$self->{dir}/relay-" . ++$self->{relays};
    make_path($dir);
    my @command = ($^X, "$source/t/relay.pl", '--to', "127.0.0.1:$options{to}", '--record', $dir, '--port-file',
        "$dir/port");
    push @command, "--$_", $options{$_} for grep { $options{$_} } qw(rate delay);
    my $pid = $self->spawn('relay', "$dir/start.log", @command);
    my $port = wait_until(sub { -s "$dir/port" ? slurp("$dir/port") + 0 : $self->alive($pid) ? undef : 0 });
    die "The relay does not start:\n" . slurp("$dir/start.log") . "\n" if !$port;
    return bless {dir => $dir, port => $port, seen => {}}, 'CRCSync::Rig::Relay';
}

# What the httpds logged at level error or worse, one entry a line.
sub errors {
    my ($self) = @_;
    return map { grep { /^\[[^\]]*\] \[[^\]]*:(?:error|crit|alert|emerg)\]/ } split /^/, slurp($_) }
        glob "$self->{dir}/*/logs/error.log";
}

# Runs a program to its end; dies if it fails. Ctrl-C ends us meanwhile, as Perl's system() would not let it.
sub run {
    my ($self, @command) = @_;
    my $log = "$self->{dir}/run.log";
    my $pid = $self->spawn($command[0], $log, @command);
    waitpid $pid, 0;
    my $status = $?;
    $self->{processes} = [grep { $_ != $pid } @{$self->{processes}}];
    die "$command[0] failed (status $status):\n" . slurp($log) . "\n" if $status != 0;
    return;
}

sub spawn {
    my ($self, $name, $log, @command) = @_;
    # If we are killed without a chance to clean up, the kernel ends what we started.
    my $setpriv = find_program('setpriv');
    unshift @command, $setpriv, '--pdeathsig', 'TERM' if $setpriv;
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        # A group of its own: Ctrl-C is ours to handle.
        setpgrp 0, 0;
        $SIG{INT} = $SIG{TERM} = 'DEFAULT';
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $log;
        open STDERR, '>&', \*STDOUT;
        exec { $command[0] } @command or POSIX::_exit(127);
    }
    push @{$self->{processes}}, $pid;
    return $pid;
}

sub alive {
    my ($self, $pid) = @_;
    return 0 if !grep { $_ == $pid } @{$self->{processes}};
    return 1 if waitpid($pid, WNOHANG) == 0;
    $self->{processes} = [grep { $_ != $pid } @{$self->{processes}}];
    return 0;
}

sub end {
    my ($self, @pids) = @_;
    my @left = grep { $self->alive($_) } @pids;
    kill TERM => @left;
    wait_until(sub { @left = grep { $self->alive($_) } @left; @left ? undef : 1 });
    kill KILL => @left;
    waitpid $_, 0 for @left;
    return;
}

sub stop {
    my ($self) = @_;
    return if $self->{owner} != $$ || $self->{stopped}++;
    local $?;
    # A second Ctrl-C must not leave half of it behind.
    local $SIG{INT}  = 'IGNORE';
    local $SIG{TERM} = 'IGNORE';
    # Readers first, then those that they read from.
    $self->end(reverse @{$self->{processes}});
    remove_tree($self->{dir}, {safe => 0});
    return;
}

sub DESTROY { my ($self) = @_; local $@; $self->stop; return; }

# Lets httpd's children write to the paths.
sub give_to_server {
    my ($self, @paths) = @_;
    return if $> != 0;
    my (undef, undef, $uid, $gid) = getpwnam 'www-data';
    die "There is no user www-data, which httpd runs as\n" if !defined $uid;
    chown $uid, $gid, @paths;
    return;
}

# Ports that nothing listens on now. All are held until the last is found, so that they differ.
sub free_ports {
    my ($count) = @_;
    my @sockets = map {
        IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 1) || die "No free port: $!\n"
    } 1 .. $count;
    return map { $_->sockport } @sockets;
}

sub answers {
    my ($port) = @_;
    return defined IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 5);
}

# Calls $look until it gives something defined, and returns that; undef when patience is over.
sub wait_until {
    my ($look) = @_;
    my $deadline = time + $patience;
    while (1) {
        my $found = $look->();
        return $found if defined $found;
        return if time > $deadline;
        sleep 0.02;
    }
}

sub slurp {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!\n";
    local $/;
    return scalar(<$file>) // '';
}

sub spew {
    my ($path, $bytes) = @_;
    open my $file, '>:raw', "$path.new" or die "$path.new: $!\n";
    print {$file} $bytes;
    close $file or die "$path.new: $!\n";
    rename "$path.new", $path or die "$path: $!\n";
    return;
}

package CRCSync::Rig::Relay;

# What has crossed since the last call: {up => BYTES, down => BYTES, responses => HEADS AND BODIES AS THEY CAME}.
sub traffic {
    my ($self) = @_;
    my %new = (up => '', down => '');
    for my $file (sort glob "$self->{dir}/*.up $self->{dir}/*.down") {
        my ($way) = $file =~ /\.(up|down)$/;
        my $seen = $self->{seen}{$file} // 0;
        next if -s $file <= $seen;
        open my $in, '<:raw', $file or die "$file: $!\n";
        seek $in, $seen, 0;
        local $/;
        my $bytes = <$in>;
        $self->{seen}{$file} = $seen + length $bytes;
        $new{$way} .= $bytes;
    }
    return {up => length $new{up}, down => length $new{down}, responses => $new{down}};
}

# Throws away what is recorded, so that a relay that runs for long does not fill the disk.
sub forget {
    my ($self) = @_;
    unlink glob "$self->{dir}/*.up $self->{dir}/*.down";
    $self->{seen} = {};
    return;
}

1;
