# A real httpd of its own: its own processes, MPM, ports, error log and work directory.
#
#   my $httpd = CRCSync::Httpd->start(
#       name    => 'server',                  # for its directory and for messages
#       mpm     => 'event',                   # or worker, prefork; default CRCSYNC_MPM or event
#       modules => ['ssl', 'http2'],          # besides the usual ones
#       without => ['crccache_client'],       # modules to leave out
#       ports   => ['TLS'],                   # further free ports: @TLS@ in conf, $httpd->port('TLS')
#       vars    => {TO => $port},             # @TO@ in conf
#       faults  => CRCSync::Faults->new,      # faults inside of it
#       conf    => "CRCSyncServer On\n",      # @PORT@ is the main port (Listen is there), @DIR@ the work directory
#   );
#   $httpd->port; $httpd->dir; $httpd->graceful; $httpd->stop; $httpd->log(3);
#
# Both modules under test are loaded where they were built. DIR has htdocs/ (the DocumentRoot) and cache/ (CacheRoot).
# check_config() tells what httpd says to a configuration, without starting it. stop() is called for each httpd at the
# end of the test, and done_testing reads each error log (CRCSync::ErrorLog).
package CRCSync::Httpd;

use strict;
use warnings;

use File::Path qw(make_path);
use POSIX ();
use Time::HiRes qw(sleep);

use CRCSync::ErrorLog;
use CRCSync::Work;

our $program = $ENV{CRCSYNC_HTTPD} || '/usr/sbin/apache2';
our $module_dir = $ENV{CRCSYNC_HTTPD_MODULES} || '/usr/lib/apache2/modules';

# What most tests need. log_config, version and others are linked into Debian's httpd.
our @usual = qw(authz_core alias dir mime headers env setenvif rewrite filter deflate include substitute proxy
    proxy_http cache cache_disk);
our @under_test = qw(crccache_server crccache_client);

my %running;
my $pid_of_test = $$;

sub start {
    my ($class, %options) = @_;
    my $self;
    # Another process may take a port between the choice and the bind: try again with others.
    for my $try (1 .. 5) {
        $self = $class->_prepare(%options);
        last if $self->_run;
        my $log = CRCSync::Work::slurp($self->error_log);
        next if $log =~ /Address already in use/ && $try < 5;
        die "httpd '$self->{name}' did not start:\n$log\n";
    }
    CRCSync::ErrorLog::watch($self->error_log, $self->{name});
    return $self;
}

# (exit status, output) of `apache2 -t` with this configuration.
sub check_config {
    my ($class, %options) = @_;
    my $self = $class->_prepare(%options);
    my $output = `$program -t -f "$self->{dir}/httpd.conf" 2>&1`;
    return ($? >> 8, $output);
}

sub _prepare {
    my ($class, %options) = @_;
    my $name = $options{name} // 'httpd';
    my $dir = CRCSync::Work::new_dir($name);
    make_path(map { "$dir/$_" } qw(htdocs cache));
    my $self = bless {name => $name, dir => $dir, faults => $options{faults}}, $class;
    my %vars = (%{$options{vars} // {}}, DIR => $dir);
    $vars{$_} = $self->{ports}{$_} = CRCSync::Work::free_port() for 'PORT', @{$options{ports} // []};
    my $conf = $self->_base_conf(%options) . ($options{conf} // '');
    $conf =~ s{\@([A-Z][A-Z0-9_]*)\@}{$vars{$1} // die "no value for \@$1\@\n"}ge;
    CRCSync::Work::spew("$dir/httpd.conf", $conf);
    CRCSync::Work::spew("$dir/error.log", '');
    return $self;
}

sub _base_conf {
    my ($self, %options) = @_;
    my $mpm = $options{mpm} || $ENV{CRCSYNC_MPM} || 'event';
    my %without = map { $_ => 1 } @{$options{without} // []};
    my %seen;
    my @modules = grep { !$without{$_} && !$seen{$_}++ } "mpm_$mpm", @usual, @{$options{modules} // []};
    my $load = join '', map { "LoadModule ${_}_module $module_dir/mod_$_.so\n" } @modules;
    my $level = 'LogLevel info';
    for my $name (grep { !$without{$_} } @under_test) {
        my $file = CRCSync::Work::module($name) or next;
        $load .= "LoadModule ${name}_module $file\n";
        $level .= " $name:debug";
    }
    my $limits =
        $mpm eq 'prefork'
        ? "StartServers 4\nMinSpareServers 1\nMaxSpareServers 8\nMaxRequestWorkers 40\n"
        : "StartServers 1\nThreadsPerChild 20\nMinSpareThreads 1\nMaxSpareThreads 60\nMaxRequestWorkers 60\n";
    my $types = -e '/etc/mime.types' ? '/etc/mime.types' : '/dev/null';
    return <<"END";
ServerRoot $self->{dir}
ServerName 127.0.0.1:\@PORT\@
PidFile $self->{dir}/httpd.pid
ErrorLog $self->{dir}/error.log
DefaultRuntimeDir $self->{dir}
$load$limits
Listen 127.0.0.1:\@PORT\@
$level
LogFormat "method=%m url=%U%q status=%>s bytes=%B result=%{crcsync-result}n reason=%{crcsync-reason}n base=%{crcsync-base}n instance-bytes=%{crcsync-instance-bytes}n wire-bytes=%{crcsync-wire-bytes}n request-bytes=%{crcsync-request-bytes}n literal-bytes=%{crcsync-literal-bytes}n ratio=%{crcsync-ratio}n" crcsync
CustomLog $self->{dir}/access.log crcsync
TypesConfig $types
DocumentRoot $self->{dir}/htdocs
<IfModule mod_cache_disk.c>
    CacheRoot $self->{dir}/cache
</IfModule>
END
}

sub _run {
    my ($self) = @_;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        # httpd signals its process group when it ends.
        setpgrp 0, 0;
        open STDIN, '<', '/dev/null';
        open STDERR, '>>', "$self->{dir}/error.log";
        open STDOUT, '>&', \*STDERR;
        local %ENV = (%ENV, $self->{faults} ? $self->{faults}->environment : ());
        exec $program, '-DFOREGROUND', '-f', "$self->{dir}/httpd.conf" or POSIX::_exit(127);
    }
    CRCSync::Work::note_pid($pid);
    $self->{pid} = $pid;
    my $up = CRCSync::Work::wait_for(
        "httpd '$self->{name}'",
        sub {
            return -1 if waitpid($pid, POSIX::WNOHANG()) == $pid;
            return -s "$self->{dir}/httpd.pid" && CRCSync::Work::accepts($self->port) ? 1 : 0;
        }
    );
    return 0 if $up < 0;
    $running{$self} = $self;
    return 1;
}

sub port { return $_[0]{ports}{$_[1] // 'PORT'} }
sub dir { return $_[0]{dir} }
sub pid { return $_[0]{pid} }
sub error_log { return "$_[0]{dir}/error.log" }

# Changes the configuration file: the next graceful() reads it.
sub change_conf {
    my ($self, $change) = @_;
    my $file = "$self->{dir}/httpd.conf";
    local $_ = CRCSync::Work::slurp($file);
    $change->();
    CRCSync::Work::spew($file, $_);
    return;
}

sub graceful {
    my ($self) = @_;
    my $from = -s $self->error_log;
    # prefork misses a signal that comes just after it has logged the restart before: then it gets another.
    my $next = 0;
    my $restarted = sub {
        if (time >= $next) {
            kill 'USR1', $self->{pid} or die "httpd '$self->{name}' is gone\n";
            $next = time + 5;
        }
        return $self->_log_since($from) =~ /resuming normal operations/;
    };
    if (!eval { CRCSync::Work::wait_for('the graceful restart', $restarted) }) {
        my @log = split /^/, $self->_log_since(0);
        die $@, "'$self->{name}' has logged last:\n", @log > 10 ? @log[-10 .. -1] : @log;
    }
    CRCSync::Work::wait_for('the port after a graceful restart', sub { CRCSync::Work::accepts($self->port) });
    return;
}

# Ends the server and starts it anew, on the same ports and directories.
sub restart {
    my ($self) = @_;
    $self->stop;
    unlink "$self->{dir}/httpd.pid";
    $self->_run or die "httpd '$self->{name}' did not start again\n";
    return;
}

# What the error log says from an offset on: after many restarts it is long.
sub _log_since {
    my ($self, $from) = @_;
    open my $in, '<', $self->error_log or die $self->error_log . ": $!\n";
    seek $in, $from, 0;
    local $/ = undef;
    return <$in> // '';
}

# Process ids of the children.
sub children {
    my ($self) = @_;
    my @children;
    # The port is there before the first child is.
    CRCSync::Work::wait_for(
        "the children of '$self->{name}'",
        sub { @children = split ' ', CRCSync::Work::slurp("/proc/$self->{pid}/task/$self->{pid}/children") }
    );
    return @children;
}

# The first `count` lines of the access log, as hashes (method, url, status, bytes, and the notes without "crcsync-";
# "-" where there is none). Waits for them: httpd writes a line after the reader has the response.
sub log {
    my ($self, $count) = @_;
    my @lines;
    CRCSync::Work::wait_for(
        "$count log lines of '$self->{name}'",
        sub {
            @lines = -e "$self->{dir}/access.log" ? split /\n/, CRCSync::Work::slurp("$self->{dir}/access.log") : ();
            return @lines >= $count;
        }
    );
    return map { {map { /^([^=]+)=(.*)$/ ? ($1, $2) : () } split ' '} } @lines;
}

# How many lines the access log has now.
sub log_count {
    my ($self) = @_;
    return -e "$self->{dir}/access.log" ? CRCSync::Work::slurp("$self->{dir}/access.log") =~ tr/\n// : 0;
}

# The last line of the access log once it has `count` lines.
sub last_log { return ($_[0]->log($_[1]))[-1] }

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} // return;
    delete $running{$self};
    # On SIGTERM mpm_event closes the sockets of its workers, also those that the workers are just done with, and then it
    # may crash. So they are left to finish.
    sleep 0.1;
    my $status = CRCSync::Work::end_process($pid);
    die "httpd '$self->{name}' ended with status $status\n" if $status;
    return;
}

sub stop_all {
    for my $httpd (values %running) {
        $httpd->stop;
    }
    return;
}

END {
    local $?;
    if ($$ == $pid_of_test) {
        kill 'TERM', map { $_->{pid} } values %running;
    }
}

1;
