# An origin that answers with exactly the bytes that a test gives, on a raw socket: hand-made deltas, early closes, slow
# flushes. It records each request.
#
#   my $origin = CRCSync::Origin->start;
#   $origin->put('/page', body => $text, fields => [ETag => '"1"'], conditional => 1);   # any time, also to replace it
#   $origin->put('/cut', raw => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", close => 1);
#   my @requests = $origin->requests;      # since the last call, in order: messages of CRCSync::Stream
#
# put: status (200), reason, fields, body, chunked => [pieces] or 1, raw (instead of all these), close => 1 (after the
# response), pause => seconds between pieces, conditional => 1 (an equal ETag in If-None-Match gives 304).
# Or with code, called in the connection's own process:
#
#   CRCSync::Origin->start(sub {
#       my ($request, $connection) = @_;               # $request->{number} counts all requests from 1
#       $connection->send(CRCSync::Origin::response(body => 'x'));
#       $connection->close;
#   });
#   CRCSync::Origin->start($code, socket => $path);    # at a UNIX socket instead of a port
package CRCSync::Origin;

use strict;
use warnings;

use Fcntl qw(:flock O_RDWR O_CREAT);
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();
use Storable ();
use Time::HiRes ();

use CRCSync::Stream;
use CRCSync::Work;

my %running;
my $pid_of_test = $$;

sub start {
    my ($class, $code, %options) = @_;
    my $listener =
        $options{socket}
        ? IO::Socket::UNIX->new(Local => $options{socket}, Listen => 128)
        : IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 128, ReuseAddr => 1);
    die "origin: $@\n" if !$listener;
    my $dir = CRCSync::Work::new_dir('origin');
    my $self = bless {dir => $dir, port => $options{socket} ? undef : $listener->sockport, code => $code, seen => 0}, $class;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        eval { CRCSync::Work::serve($listener, $pid_of_test, 'origin', sub { $self->_connection(@_) }); 1 } or warn $@;
        POSIX::_exit(0);
    }
    CRCSync::Work::note_pid($pid);
    $self->{pid} = $pid;
    $running{$self} = $pid;
    return $self;
}

sub port { return $_[0]{port} }

sub put {
    my ($self, $target, %answer) = @_;
    my $file = $self->_file($target);
    Storable::nstore(\%answer, "$file.new");
    rename "$file.new", $file or die "$file: $!\n";
    return;
}

sub requests {
    my ($self) = @_;
    my @new;
    while (-e (my $file = sprintf '%s/%06d.request', $self->{dir}, $self->{seen} + 1)) {
        push @new, Storable::retrieve($file);
        $self->{seen}++;
    }
    return @new;
}

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} // return;
    delete $running{$self};
    CRCSync::Work::end_process($pid);
    return;
}

# The bytes of a response.
sub response {
    my (%answer) = @_;
    return join '', _pieces(%answer);
}

# Head and body, cut where flushes go.
sub _pieces {
    my (%answer) = @_;
    return $answer{raw} if defined $answer{raw};
    my $status = $answer{status} // 200;
    my $reason = $answer{reason} // {200 => 'OK', 304 => 'Not Modified', 404 => 'Not Found'}->{$status} // 'Status';
    my @fields = @{$answer{fields} // []};
    my %has = map { lc $fields[2 * $_] => 1 } 0 .. @fields / 2 - 1;
    my $body = $answer{body} // '';
    my @body = ref $answer{chunked} ? @{$answer{chunked}} : length $body ? $body : ();
    if ($answer{chunked}) {
        push @fields, 'Transfer-Encoding' => 'chunked';
        @body = ((map { sprintf "%x\r\n%s\r\n", length $_, $_ } @body), "0\r\n\r\n");
    }
    elsif (!$has{'content-length'} && !$answer{close} && $status !~ /^(?:1..|204|304)$/) {
        push @fields, 'Content-Length' => length $body;
    }
    push @fields, Connection => 'close' if $answer{close} && !$has{connection};
    my $head = "HTTP/1.1 $status $reason\r\n";
    while (@fields) {
        my ($name, $value) = splice @fields, 0, 2;
        $head .= "$name: $value\r\n";
    }
    return ("$head\r\n", @body);
}

sub _file {
    my ($self, $target) = @_;
    $target =~ s/([^A-Za-z0-9])/sprintf '_%02x', ord $1/ge;
    return "$self->{dir}/answer$target";
}

sub _connection {
    my ($self, $socket) = @_;
    my $stream = CRCSync::Stream->new('request', keep => 1);
    my $connection = bless {socket => $socket}, 'CRCSync::Origin::Connection';
    while (!$connection->{closed}) {
        my $request = shift @{$stream->{messages}};
        if (!$request) {
            my $bytes;
            sysread $socket, $bytes, 65_536 or last;
            if (!$connection->{head_seen} && ($stream->{buffer} . $bytes) =~ /^Expect: *100-continue/im) {
                $connection->send("HTTP/1.1 100 Continue\r\n\r\n");
            }
            $stream->feed($bytes);
            die "$stream->{error}\n" if $stream->{error};
            next;
        }
        $self->_record($request);
        if ($self->{code}) {
            $self->{code}->($request, $connection);
        }
        else {
            $self->_answer($request, $connection);
        }
    }
    shutdown $socket, 1;
    # The rest of what the client sends is read, so that closing does not reset what is still on its way to it.
    1 while sysread $socket, my $rest, 65_536;
    return;
}

sub _answer {
    my ($self, $request, $connection) = @_;
    my $file = $self->_file($request->{target});
    send_answer($request, $connection, -e $file ? %{Storable::retrieve($file)} : (status => 404, body => "no such page\n"));
    return;
}

# Answers a request with what put() takes.
sub send_answer {
    my ($request, $connection, %answer) = @_;
    if ($answer{conditional}) {
        my %fields = @{$answer{fields}};
        my ($tag, $match) = ($fields{ETag} // '', CRCSync::Stream::field($request, 'If-None-Match') // '');
        if (length $tag && index($match, $tag =~ s{^W/}{}r) >= 0) {
            delete $fields{$_} for 'Content-Length', 'Content-Type';
            %answer = (status => 304, fields => [map { $_ => $fields{$_} } sort keys %fields]);
        }
    }
    my @pieces = _pieces(%answer);
    splice @pieces, 1 if $request->{method} eq 'HEAD' && !defined $answer{raw};
    for (@pieces) {
        $connection->send($_) or last;
        Time::HiRes::sleep($answer{pause}) if $answer{pause};
    }
    $connection->close if $answer{close};
    return;
}

# Gives the request its number and keeps it; one lock for all connections.
sub _record {
    my ($self, $request) = @_;
    sysopen my $counter, "$self->{dir}/count", O_RDWR | O_CREAT or die "count: $!\n";
    flock $counter, LOCK_EX;
    my $number = 1 + (<$counter> // 0);
    $request->{number} = $number;
    my $file = sprintf '%s/%06d.request', $self->{dir}, $number;
    Storable::nstore($request, "$file.new");
    rename "$file.new", $file or die "$file: $!\n";
    seek $counter, 0, 0;
    print $counter $number;
    close $counter;
    return;
}

END {
    local $?;
    if ($$ == $pid_of_test) {
        kill 'TERM', values %running;
    }
}

package CRCSync::Origin::Connection;

# Sends all bytes at once; false if the peer is gone.
sub send {
    my ($self, $bytes) = @_;
    while (length $bytes) {
        my $count = syswrite $self->{socket}, $bytes;
        if (!$count) {
            $self->{closed} = 1;
            return 0;
        }
        substr $bytes, 0, $count, '';
    }
    return 1;
}

sub close { $_[0]{closed} = 1; return }
sub socket { return $_[0]{socket} }

1;
