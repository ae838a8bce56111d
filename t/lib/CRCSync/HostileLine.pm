# A peer that damages what passes, when a request says so: between the modules, as an origin, or as one that repeats what
# another of its kind has sent.
#
#   CRCSync::HostileLine->start(to => $port);                    # a line: requests go on to this port
#   CRCSync::HostileLine->start(answer => sub { my ($request) = @_; return $bytes });     # an origin
#   CRCSync::HostileLine->start(replay => $line);                # GET /NAME: what $line has sent as plan NAME
#   options: field => 'X-Damage', made => sub { my ($mutation, $body, $request) = @_; ... } (see CRCSync::Mutation)
#
# A request with the field `X-Damage: down ID SEED KIND WHICH` gets a damaged response, one with `up` is damaged itself.
# WHICH is delta (only a request with If-Block), or any; KIND is a kind of damage, or "-". The field goes no further.
# Everything else passes as it is. What was done is kept: plans(ID) gives the plans, once they have been carried out.
package CRCSync::HostileLine;

use strict;
use warnings;

use IO::Socket::INET;
use POSIX ();
use Socket qw(SOL_SOCKET SO_LINGER TCP_NODELAY IPPROTO_TCP SHUT_WR);
use Storable ();
use Time::HiRes ();

use CRCSync::Mutation;
use CRCSync::Stream;
use CRCSync::Work;

my %running;
my $pid_of_test = $$;

sub start {
    my ($class, %options) = @_;
    my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 128, ReuseAddr => 1)
        or die "hostile line: $@\n";
    my $self = bless {field => 'X-Damage', %options, dir => CRCSync::Work::new_dir('line'), port => $listener->sockport}, $class;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        eval { CRCSync::Work::serve($listener, $pid_of_test, 'hostile line', sub { $self->_connection(@_) }); 1 } or warn $@;
        POSIX::_exit(0);
    }
    CRCSync::Work::note_pid($pid);
    $running{$self} = $self->{pid} = $pid;
    return $self;
}

sub port { return $_[0]{port} }

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} // return;
    delete $running{$self};
    CRCSync::Work::end_process($pid);
    return;
}

# What was done to the exchanges of `id`: {name, kind, way, file, plan}. Waits until all of it is over.
sub plans {
    my ($self, $id) = @_;
    my @plans;
    for (my $n = 1; -e "$self->{dir}/$id.$n"; $n++) {
        CRCSync::Work::wait_for("the end of plan $id.$n", sub { -e "$self->{dir}/$id.$n.done" });
        push @plans, Storable::retrieve("$self->{dir}/$id.$n");
    }
    return @plans;
}

sub forget {
    my ($self, $id) = @_;
    unlink glob "$self->{dir}/$id.*";
    return;
}

sub _connection {
    my ($self, $socket) = @_;
    my $stream = CRCSync::Stream->new('request', keep => 1);
    while (sysread $socket, my $bytes, 65_536) {
        $stream->feed($bytes);
        last if $stream->{error};
        while (my $request = shift @{$stream->{messages}}) {
            $self->_exchange($socket, $request) or return;
        }
    }
    return;
}

# False when the connection is over.
sub _exchange {
    my ($self, $socket, $request) = @_;
    if ($self->{replay}) {
        my $plan = Storable::retrieve("$self->{replay}{dir}/" . substr $request->{target}, 1);
        return $self->_carry_out($socket, $plan->{plan});
    }
    my $bytes = CRCSync::Stream::without_field($request->{head}, $self->{field}) . $request->{raw};
    my ($way, $id, $seed, $kind, $which) = split ' ', CRCSync::Stream::field($request, $self->{field}) // '';
    undef $way if defined $which && $which eq 'delta' && !defined CRCSync::Stream::field($request, 'If-Block');
    if (!defined $way) {
        my $answer = $self->_answer($request, [[send => $bytes]]);
        my $kept = _send($socket, $answer) && _may_go_on($answer);
        shutdown $socket, SHUT_WR unless $kept;
        return $kept;
    }

    # The second request for the same page is damaged in another way.
    my $number = 1;
    $number++ while -e "$self->{dir}/$id.$number";
    my $mutation = CRCSync::Mutation->new($seed + 1_000_003 * ($number - 1), $kind eq '-' ? undef : $kind);
    my $plan;
    if ($way eq 'down') {
        my $answer = $self->_answer($request, [[send => $bytes]]);
        my $made = $self->{made} && sub { $self->{made}->(@_, $request) };
        $plan = $mutation->response($answer, made => $made);
    }
    else {
        $plan = $mutation->request($bytes);
    }
    my $file = "$self->{dir}/$id.$number";
    Storable::nstore({name => $mutation->name, kind => $mutation->kind, way => $way, file => "$id.$number", plan => $plan}, "$file.new");
    rename "$file.new", $file or die "$file: $!\n";
    if ($way eq 'down') { $self->_carry_out($socket, $plan) }
    else {
        _send($socket, $self->_answer($request, $plan));
        shutdown $socket, SHUT_WR;
    }
    CRCSync::Work::spew("$file.done", '');
    _drain($socket);
    return 0;
}

sub _answer {
    my ($self, $request, $plan) = @_;
    return $self->{answer}->($request) if $self->{answer};
    return ask($self->{to}, $plan, $request->{method});
}

# What a server says to what a plan sends: all bytes until the response is whole, or the connection ends.
sub ask {
    my ($port, $plan, $method) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 10) or return '';
    setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1);
    local $SIG{PIPE} = 'IGNORE';
    _carry_out(undef, $socket, $plan) or return '';
    my $stream = CRCSync::Stream->new('response', keep => 1, method => sub { $method // 'GET' });
    my $all = '';
    while (!$stream->{error} && !grep { $_->{status} !~ /^1/ } $stream->messages) {
        my $ready = '';
        vec($ready, fileno $socket, 1) = 1;
        last unless select $ready, undef, undef, 60;
        sysread $socket, my $bytes, 65_536 or last;
        $all .= $bytes;
        $stream->feed($bytes);
    }
    return $all;
}

# Whether a connection goes on after a response: it is whole, and nothing says that it ends with the connection.
sub _may_go_on {
    my ($bytes) = @_;
    my $stream = CRCSync::Stream->new('response', keep => 1);
    $stream->feed($bytes);
    my ($response) = grep { $_->{status} !~ /^1/ } $stream->messages;
    return $response && (CRCSync::Stream::field($response, 'Connection') // '') !~ /close/i;
}

# False after a reset.
sub _carry_out {
    my (undef, $socket, $plan) = @_;
    for (@$plan) {
        my ($step, $value) = @$_;
        if    ($step eq 'send') { _send($socket, $value) or last }
        elsif ($step eq 'wait') { Time::HiRes::sleep($value) }
        elsif ($step eq 'close') { shutdown $socket, SHUT_WR }
        else {
            setsockopt $socket, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;
            close $socket;
            return 0;
        }
    }
    return 1;
}

sub _send {
    my ($socket, $bytes) = @_;
    while (length $bytes) {
        my $count = syswrite $socket, $bytes;
        return 0 unless $count;
        substr $bytes, 0, $count, '';
    }
    return 1;
}

# The rest of what the peer sends is read, so that closing does not reset what is still on its way to it.
sub _drain {
    my ($socket) = @_;
    return unless defined fileno $socket;
    1 while sysread $socket, my $rest, 65_536;
    return;
}

END {
    local $?;
    if ($$ == $pid_of_test) {
        kill 'TERM', values %running;
    }
}

1;
