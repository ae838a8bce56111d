# The origin's process: one for all connections, since thousands of requests come, and many close theirs.
#
#   my $origin = CRCSync::Transparency::Origin->start(sub { my ($request) = @_; return ($bytes, $close) });
#   $origin->port; my @requests = $origin->requests;        # since the last call
package CRCSync::Transparency::Origin;

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Socket qw(TCP_NODELAY IPPROTO_TCP);
use Storable ();

use CRCSync::Stream;
use CRCSync::Work;

my %running;
my $pid_of_test = $$;

sub start {
    my ($class, $answer) = @_;
    my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 128, ReuseAddr => 1)
        or die "origin: cannot listen: $!\n";
    my $record = CRCSync::Work::new_dir('origin') . '/requests';
    my $self = bless {port => $listener->sockport, record => $record, seen => 0}, $class;
    CRCSync::Work::spew($record, '');
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        eval { _serve($listener, $record, $answer); 1 } or warn "origin: $@";
        POSIX::_exit(1);
    }
    CRCSync::Work::note_pid($pid);
    $running{$self} = $pid;
    return $self;
}

sub port { return $_[0]{port} }

sub requests {
    my ($self) = @_;
    my $new = substr CRCSync::Work::slurp($self->{record}), $self->{seen};
    $self->{seen} += length $new;
    return map { Storable::thaw($_) } unpack '(N/a)*', $new;
}

sub _serve {
    my ($listener, $record, $answer) = @_;
    $SIG{TERM} = 'DEFAULT';
    $SIG{PIPE} = 'IGNORE';
    open my $log, '>>:raw', $record or die "$record: $!\n";
    my $select = IO::Select->new($listener);
    my %streams;
    # Ends by itself when the test is gone.
    while (getppid == $pid_of_test) {
        for my $socket ($select->can_read(1)) {
            if ($socket == $listener) {
                my $connection = $listener->accept or next;
                setsockopt $connection, IPPROTO_TCP, TCP_NODELAY, 1;
                $select->add($connection);
                $streams{$connection} = CRCSync::Stream->new('request', keep => 1);
                next;
            }
            my $stream = $streams{$socket};
            my $open = sysread $socket, my $bytes, 65_536;
            $stream->feed($bytes) if $open;
            die "$stream->{error}\n" if $stream->{error};
            while ($open && (my $request = shift @{$stream->{messages}})) {
                # It is known before anybody has the answer.
                syswrite $log, pack 'N/a', Storable::freeze($request);
                my ($answered, $close) = $answer->($request);
                $open = _send($socket, $answered) && !$close;
            }
            next if $open;
            $select->remove($socket);
            delete $streams{$socket};
            close $socket;
        }
    }
    return;
}

sub _send {
    my ($socket, $bytes) = @_;
    while (length $bytes) {
        my $count = syswrite $socket, $bytes or return 0;
        substr $bytes, 0, $count, '';
    }
    return 1;
}

END {
    local $?;
    kill 'TERM', values %running if $$ == $pid_of_test;
}

1;
