#!/usr/bin/perl
# A TCP relay that stands for the slow link between the two modules. It can limit the rate, add delay, record what
# crosses, and damage it on purpose.
#
#   relay.pl --to 127.0.0.1:PORT --port-file FILE [--listen 127.0.0.1:0] [--rate BITS_PER_S] [--delay MS_ONE_WAY]
#            [--record DIR] [--strip FIELD]... [--cut BYTES] [--pieces BYTES]
#
# It takes a free port (or the one given), writes its number to FILE, and runs until SIGTERM or SIGINT.
#
# The link. Each direction is one pipe that all connections share, as on a real line. A piece that arrives at time t
# leaves the sender's end when the pieces before it have left and its own bits are through (rate), and comes out `delay`
# later. A new connection costs its handshake: its first bytes wait one round trip. TCP's slow start and the overhead of
# packet headers are not modelled. The relay stops reading while the line is busy, so that the sender is held back as by
# a full socket.
#
# Recording. Connection n (from 1) writes DIR/n.up (from the client) and DIR/n.down (to the client), at once and before
# the bytes are passed on: who has seen a byte finds it in the record. What is recorded is what arrived, before damage.
#
# Damage. --strip FIELD removes a header field from requests and responses (it may be given more than once). --cut N
# closes a connection after N bytes of response bodies and heads. --pieces N passes on at most N bytes a write.
use strict;
use warnings;

use Errno qw(EAGAIN EINTR EINPROGRESS EWOULDBLOCK);
use FindBin;
use Getopt::Long;
use IO::Socket::INET;
use Socket qw(SHUT_WR SOL_SOCKET SO_ERROR TCP_NODELAY IPPROTO_TCP);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
use lib "$FindBin::Bin/lib";
use CRCSync::Stream;

my %option = (listen => '127.0.0.1:0', rate => 0, delay => 0);
GetOptions(\%option, qw(to=s listen=s rate=f delay=f record=s port-file=s strip=s@ cut=i pieces=i))
    && $option{to} && $option{'port-file'} && !@ARGV
    or die "usage: $0 --to HOST:PORT --port-file FILE [--listen HOST:PORT] [--rate BITS_PER_S] [--delay MS_ONE_WAY]\n"
    . "       [--record DIR] [--strip FIELD]... [--cut BYTES] [--pieces BYTES]\n";

my $delay = $option{delay} / 1000;
# What one read takes: small enough that two connections share a slow line fairly and times are exact to some 10 ms.
my $piece = $option{rate} ? int($option{rate} / 8 * 0.01) : 65_536;
$piece = $piece < 256 ? 256 : $piece > 65_536 ? 65_536 : $piece;
# What may be on its way in one direction: what the line holds, and a socket's buffer.
my $on_the_way = 262_144 + ($option{rate} ? $option{rate} / 8 * $delay * 2 : $delay ? 64 << 20 : 0);
# Seconds by which the line may be booked ahead: a busy machine wakes us late, and the line must not stand idle then.
my $slack = 0.1;

my $listener = IO::Socket::INET->new(
    LocalAddr => $option{listen},
    Listen    => 128,
    ReuseAddr => 1,
    Blocking  => 0,
) or die "relay: cannot listen on $option{listen}: $!\n";
write_port_file($option{'port-file'}, $listener->sockport);

my $running = 1;
$SIG{TERM} = $SIG{INT} = sub { $running = 0 };
$SIG{PIPE} = 'IGNORE';

my $connections = 0;
my %free_at = (up => 0, down => 0);    # when the line is through with what it has
my @flows;                             # two for each connection: up and down
my $turn = 0;

while ($running) {
    my $now = clock_gettime(CLOCK_MONOTONIC);
    my ($read, $write, $timeout) = ('', '', undef);
    my $wake = sub {
        my ($at) = @_;
        my $in = $at > $now ? $at - $now : 0;
        $timeout = $in if !defined $timeout || $in < $timeout;
    };
    vec($read, fileno $listener, 1) = 1;
    for my $flow (@flows) {
        if (may_read($flow, $now)) {
            vec($read, fileno $flow->{from}, 1) = 1;
        }
        elsif (!$flow->{ended} && $flow->{queued} < $on_the_way) {
            my $line = $free_at{$flow->{way}} - $slack;
            $wake->($line > $flow->{opens} ? $line : $flow->{opens});
        }
        next unless @{$flow->{queue}};
        if   ($flow->{queue}[0][0] <= $now) { vec($write, fileno $flow->{to}, 1) = 1 }
        else                                { $wake->($flow->{queue}[0][0]) }
    }
    # A signal that comes just before select() does not end it: look again soon.
    $timeout = 0.2 if !defined $timeout || $timeout > 0.2;
    my ($can_read, $can_write) = ($read, $write);
    my $ready = select $can_read, $can_write, undef, $timeout;
    next if $ready < 0;

    $now = clock_gettime(CLOCK_MONOTONIC);
    accept_all($now) if vec $can_read, fileno $listener, 1;
    # A different flow is first each time, so that no connection starves the others on a busy line.
    my @order = @flows ? map { $flows[($turn + $_) % @flows] } 0 .. $#flows : ();
    $turn++;
    for my $flow (@order) {
        next if $flow->{dead};
        take($flow, $now) if vec($can_read, fileno $flow->{from}, 1) && may_read($flow, $now);
        next if $flow->{dead};
        give($flow, $now) if vec $can_write, fileno $flow->{to}, 1;
    }
    sweep();
}
exit 0;

sub write_port_file {
    my ($file, $port) = @_;
    open my $out, '>', "$file.new" or die "relay: $file.new: $!\n";
    print $out "$port\n";
    close $out or die "relay: $file.new: $!\n";
    rename "$file.new", $file or die "relay: $file: $!\n";
    return;
}

sub may_read {
    my ($flow, $now) = @_;
    return 0 if $flow->{ended} || $flow->{dead} || $now < $flow->{opens} || $flow->{queued} >= $on_the_way;
    return $option{rate} ? $free_at{$flow->{way}} <= $now + $slack : 1;
}

sub accept_all {
    my ($now) = @_;
    while (my $client = $listener->accept) {
        my $server = IO::Socket::INET->new(PeerAddr => $option{to}, Timeout => 10);
        if (!$server) {
            warn "relay: no connection to $option{to}: $@\n";
            next;
        }
        my $number = ++$connections;
        for ($client, $server) {
            $_->blocking(0);
            setsockopt($_, IPPROTO_TCP, TCP_NODELAY, 1);
        }
        my $connection = {left => $option{cut}, methods => []};
        my $up   = new_flow('up', $client, $server, $connection, $now + 2 * $delay);
        my $down = new_flow('down', $server, $client, $connection, $now);
        ($up->{other}, $down->{other}) = ($down, $up);
        if ($option{record}) {
            for my $flow ($up, $down) {
                open $flow->{record}, '>:raw', "$option{record}/$number.$flow->{way}"
                    or die "relay: $option{record}: $!\n";
            }
        }
        push @flows, $up, $down;
    }
    return;
}

sub new_flow {
    my ($way, $from, $to, $connection, $opens) = @_;
    my %flow = (
        way => $way, from => $from, to => $to, connection => $connection, opens => $opens,
        queue => [], queued => 0, ended => 0, dead => 0,
    );
    if (my $strip = $option{strip}) {
        my $change = sub {
            my ($head) = @_;
            push @{$connection->{methods}}, $head =~ /^(\S+)/ if $way eq 'up';
            $head = CRCSync::Stream::without_field($head, $_) for @$strip;
            return $head;
        };
        $flow{stream} = CRCSync::Stream->new(
            $way eq 'up' ? 'request' : 'response',
            head   => $change,
            method => sub { shift @{$connection->{methods}} },
        );
    }
    return \%flow;
}

# Reads a piece and books it on the line.
sub take {
    my ($flow, $now) = @_;
    my $bytes;
    my $count = sysread $flow->{from}, $bytes, $piece;
    if (!defined $count) {
        return if $! == EAGAIN || $! == EWOULDBLOCK || $! == EINTR;
        kill_connection($flow);
        return;
    }
    if ($count == 0) {
        $flow->{ended} = 1;
        $bytes = $flow->{stream} ? $flow->{stream}->finish : '';
        enqueue($flow, $now, $bytes) if length $bytes;
        my $last = @{$flow->{queue}} ? $flow->{queue}[-1][0] : 0;
        push @{$flow->{queue}}, [$last > $now + $delay ? $last : $now + $delay, undef];
        return;
    }
    syswrite $flow->{record}, $bytes if $flow->{record};
    $bytes = $flow->{stream}->feed($bytes) if $flow->{stream};
    enqueue($flow, $now, $bytes) if length $bytes;
    return;
}

sub enqueue {
    my ($flow, $now, $bytes) = @_;
    my $out_at = $now;
    if ($option{rate}) {
        my $start = $free_at{$flow->{way}} > $now ? $free_at{$flow->{way}} : $now;
        $out_at = $free_at{$flow->{way}} = $start + length($bytes) * 8 / $option{rate};
    }
    push @{$flow->{queue}}, [$out_at + $delay, $bytes];
    $flow->{queued} += length $bytes;
    return;
}

# Writes what has come out at the far end.
sub give {
    my ($flow, $now) = @_;
    while (@{$flow->{queue}} && $flow->{queue}[0][0] <= $now) {
        my $entry = $flow->{queue}[0];
        if (!defined $entry->[1]) {
            shutdown $flow->{to}, SHUT_WR;
            shift @{$flow->{queue}};
            $flow->{closed} = 1;
            last;
        }
        my $length = length $entry->[1];
        $length = $option{pieces} if $option{pieces} && $length > $option{pieces};
        my $left = $flow->{connection}{left};
        my $limited = $flow->{way} eq 'down' && defined $left;
        $length = $left if $limited && $length > $left;
        my $count = $length ? syswrite $flow->{to}, $entry->[1], $length : 0;
        if (!defined $count) {
            return if $! == EAGAIN || $! == EWOULDBLOCK || $! == EINTR;
            kill_connection($flow);
            return;
        }
        if ($limited && ($flow->{connection}{left} -= $count) == 0) {
            kill_connection($flow);
            return;
        }
        $flow->{queued} -= $count;
        if   ($count == length $entry->[1]) { shift @{$flow->{queue}} }
        else                                { substr $entry->[1], 0, $count, '' }
        return if $option{pieces};    # the next piece is a write of its own
    }
    return;
}

sub kill_connection {
    my ($flow) = @_;
    $_->{dead} = 1 for $flow, $flow->{other};
    return;
}

# Forgets connections that are over; both flows of one are over at the same time.
sub sweep {
    my @over = grep { $_->{dead} || ($_->{closed} && $_->{other}{closed}) } @flows;
    return unless @over;
    my %over = map { $_ => 1 } @over;
    @flows = grep { !$over{$_} } @flows;
    for my $flow (@over) {
        close $_ for grep { defined } $flow->{from}, $flow->{record};
        delete $flow->{other};
    }
    return;
}
