# relay.pl as an object: the recorded line between the modules.
#
#   my $relay = CRCSync::Relay->start(to => $server->port, rate => 56_000, delay => 20, strip => ['ETag']);
#   ... requests through $relay->port ...
#   (port => N takes that port instead of a free one)
#   my @exchanges = $relay->exchanges;     # since the last call
#   $exchanges[0]{request}, $exchanges[0]{response}     messages of CRCSync::Stream
package CRCSync::Relay;

use strict;
use warnings;

use POSIX ();

use CRCSync::Stream;
use CRCSync::Work;

my %running;

sub start {
    my ($class, %options) = @_;
    my ($to, $port) = delete @options{qw(to port)};
    my $dir = CRCSync::Work::new_dir('relay');
    my $self = bless {dir => $dir, to => $to, options => \%options, seen => {}}, $class;
    $self->_run('127.0.0.1:' . ($port // 0));
    return $self;
}

sub _run {
    my ($self, $listen) = @_;
    my $port_file = "$self->{dir}/port";
    unlink $port_file;
    my @arguments = ('--to', "127.0.0.1:$self->{to}", '--listen', $listen, '--record', $self->{dir}, '--port-file',
        $port_file);
    for my $name (sort keys %{$self->{options}}) {
        my $value = $self->{options}{$name};
        push @arguments, "--$name", $_ for ref $value ? @$value : $value;
    }
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDERR, '>>', "$self->{dir}/error.log";
        open STDOUT, '>&', \*STDERR;
        exec $^X, CRCSync::Work::t_dir() . '/relay.pl', @arguments or POSIX::_exit(127);
    }
    CRCSync::Work::note_pid($pid);
    $self->{pid} = $pid;
    $running{$self} = $pid;
    $self->{port} = 0 + CRCSync::Work::wait_for('the relay', sub { -e $port_file && CRCSync::Work::slurp($port_file) });
    return;
}

sub port { return $_[0]{port} }

# Ends the relay and starts it on the same port with other options: what was up to now a good line becomes a bad one.
# Its connections break, as a line's do.
sub change {
    my ($self, %options) = @_;
    $self->stop;
    my $old = "$self->{dir}/old-" . ++$self->{changes};
    mkdir $old or die "$old: $!\n";
    rename $_, "$old/" . substr $_, 1 + length $self->{dir} for glob "$self->{dir}/*.up $self->{dir}/*.down";
    $self->{seen} = {};
    $self->{options} = \%options;
    $self->_run("127.0.0.1:$self->{port}");
    return;
}

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} // return;
    delete $running{$self};
    CRCSync::Work::end_process($pid);
    return;
}

# All requests and responses that crossed since the last call, each {request => ..., response => ..., connection => n}.
# A response that is not complete has complete => 0; one that never came is undef. Within one connection the order is
# that on the wire; connections follow each other in the order in which they were opened.
sub exchanges {
    my ($self) = @_;
    my @new;
    for my $number ($self->_connections) {
        my @all = _pair_up(map { CRCSync::Work::slurp("$self->{dir}/$number.$_") } qw(up down));
        my $seen = $self->{seen}{$number} // 0;
        $self->{seen}{$number} = @all;
        push @new, map { {%$_, connection => $number} } @all[$seen .. $#all];
    }
    return @new;
}

# As exchanges, but they count as not seen: exchanges gives them again.
sub exchanges_so_far {
    my ($self) = @_;
    my %seen = %{$self->{seen}};
    my @exchanges = $self->exchanges;
    $self->{seen} = \%seen;
    return @exchanges;
}

# Bytes that crossed since the start: (up, down).
sub bytes {
    my ($self) = @_;
    my ($up, $down) = (0, 0);
    for my $number ($self->_connections) {
        $up   += -s "$self->{dir}/$number.up"   || 0;
        $down += -s "$self->{dir}/$number.down" || 0;
    }
    return ($up, $down);
}

sub _connections {
    my ($self) = @_;
    return sort { $a <=> $b } map { m{/(\d+)\.up$} } glob "$self->{dir}/*.up";
}

sub _pair_up {
    my ($up, $down) = @_;
    my $requests = CRCSync::Stream->new('request', keep => 1);
    $requests->feed($up);
    $requests->finish;
    my @requests = $requests->messages;
    my @methods = map { $_->{method} } @requests;
    my $responses = CRCSync::Stream->new('response', keep => 1, method => sub { shift @methods });
    $responses->feed($down);
    $responses->finish;
    my @responses = grep { $_->{status} !~ /^1/ } $responses->messages;
    return map { {request => $requests[$_], response => $responses[$_]} } 0 .. $#requests;
}

END {
    local $?;
    kill 'TERM', values %running;
}

1;
