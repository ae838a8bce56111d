# Where a test run keeps its files, which ports are free, and which processes are to be ended.
#
# t/TEST makes one work directory for a run, owned by the user that the tests run as, and names it in CRCSYNC_WORK:
#   t/          a copy of the test suite (what is served must be readable for that user)
#   modules/    the modules under test, as built
#   bin/        the tool
#   run/        one directory for each server, relay and origin that a test starts
#   pids        the processes that tests have started: what a test that was killed left behind, t/TEST ends
package CRCSync::Work;

use strict;
use warnings;

use Cwd qw(abs_path);
use Fcntl qw(:flock);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use IO::Socket::INET;
use POSIX ();
use Socket qw(TCP_NODELAY IPPROTO_TCP);
use Time::HiRes qw(sleep time);

my $count = 0;

sub dir { return $ENV{CRCSYNC_WORK} // die "CRCSYNC_WORK is not set: run tests with t/TEST\n" }

sub t_dir { return abs_path(dirname(__FILE__) . '/../..') }

# A new directory for one part of a test; its name tells whose it is.
sub new_dir {
    my ($name) = @_;
    my $test = $0;
    $test =~ s{^.*/}{};
    $test =~ s{\.t$}{};
    my $dir = sprintf '%s/run/%s-%d-%02d-%s', dir(), $test, $$, ++$count, $name;
    make_path($dir);
    return $dir;
}

# Path of a built module, or undef if it was not built.
sub module {
    my ($name) = @_;
    my $file = dir() . "/modules/mod_$name.so";
    return -e $file ? $file : undef;
}

sub tool { return dir() . '/bin/crcsync' }

# A port on 127.0.0.1 that nobody listens on, below the range from which the system takes ports of its own. Two
# processes that ask at the same time seldom get the same one; who binds it tries again with another.
sub free_port {
    my ($how_many) = @_;
    $how_many //= 1;
    for (1 .. 200) {
        my $port = 10_000 + int rand 20_000;
        my @bound = grep { defined } map {
            IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $_, Listen => 1)
        } $port .. $port + $how_many - 1;
        return $port if @bound == $how_many;
    }
    die "no free port\n";
}

# Serves a listening socket in the process that calls it, each connection in one of its own: code->($socket). Ends when
# process `parent`, the test, is gone.
sub serve {
    my ($listener, $parent, $name, $code) = @_;
    $SIG{TERM} = 'DEFAULT';
    $SIG{CHLD} = 'IGNORE';
    while (1) {
        POSIX::_exit(0) if getppid != $parent;
        my $ready = '';
        vec($ready, fileno $listener, 1) = 1;
        next unless select $ready, undef, undef, 1;
        my $socket = $listener->accept or next;
        my $pid = fork // next;
        if (!$pid) {
            close $listener;
            $SIG{PIPE} = 'IGNORE';
            setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1) if $socket->isa('IO::Socket::INET');
            eval { $code->($socket); 1 } or warn "$name: $@";
            POSIX::_exit(0);
        }
        close $socket;
    }
}

sub note_pid {
    my ($pid) = @_;
    open my $out, '>>', dir() . '/pids' or die "pids: $!\n";
    flock $out, LOCK_EX;
    print $out "$pid\n";
    close $out;
    return;
}

# Waits until `condition` returns true and returns what it returned; dies after `seconds` (a fault, not a measurement:
# generous, so that a busy machine fails no test).
sub wait_for {
    my ($what, $condition, $seconds) = @_;
    my $end = time + ($seconds // 60);
    while (1) {
        my $result = $condition->();
        return $result if $result;
        die "gave up waiting for $what\n" if time > $end;
        sleep 0.02;
    }
}

sub accepts {
    my ($port) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 5);
    return defined $socket;
}

# Ends a child process that this process has started.
sub end_process {
    my ($pid, $signal) = @_;
    kill $signal // 'TERM', $pid;
    my $end = time + 30;
    my $status;
    while (1) {
        my $got = waitpid $pid, 1;    # WNOHANG
        if ($got == $pid) { $status = $?; last }
        last if $got < 0;
        if (time > $end) {
            kill 'KILL', $pid;
            waitpid $pid, 0;
            die "process $pid did not end\n";
        }
        sleep 0.01;
    }
    return $status;
}

sub slurp {
    my ($file) = @_;
    open my $in, '<:raw', $file or die "$file: $!\n";
    local $/ = undef;
    my $text = <$in>;
    return $text // '';
}

# Replaces a file in one step, as an editor would: who reads it sees the old or the new text.
sub spew {
    my ($file, $text) = @_;
    open my $out, '>:raw', "$file.new" or die "$file.new: $!\n";
    print $out $text;
    close $out or die "$file.new: $!\n";
    rename "$file.new", $file or die "$file: $!\n";
    return;
}

1;
