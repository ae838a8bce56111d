# Fetches all cases from the origin in several ways at the same time, round by round, and keeps what each reader got and
# what each origin saw.
#
#   my $run = CRCSync::Transparency::Run->new(cases => \@cases);
#   $run->way(direct => $run->origin_port('direct'));          # each way has an origin process of its own
#   for my $round (rounds()) { my $result = $run->round(@$round); ... }
#   $result->{direct}[$n] = {response => ..., requests => [what the origin saw]}, for step $n of $result->{steps}
#
# One reader a way, one request at a time, over connections that stay open.
package CRCSync::Transparency::Run;

use strict;
use warnings;

use POSIX ();
use Storable ();

use CRCSync::Http;
use CRCSync::Stream;
use CRCSync::Transparency::Answer qw(answer);
use CRCSync::Transparency::Cases qw(steps);
use CRCSync::Transparency::Origin;
use CRCSync::Work;

sub new {
    my ($class, %options) = @_;
    my $self = bless {%options, dir => CRCSync::Work::new_dir('run')}, $class;
    $self->{by_target} = {map { $_->{target} => $_ } @{$self->{cases}}};
    CRCSync::Work::spew("$self->{dir}/version", 1);
    return $self;
}

# Starts the origin of a way and returns its port.
sub origin_port {
    my ($self, $way) = @_;
    my ($cases, $file) = ($self->{by_target}, "$self->{dir}/version");
    my $serve = sub {
        my ($request) = @_;
        my $case = $cases->{$request->{target}} or die "no case $request->{target}\n";
        return answer($case, CRCSync::Work::slurp($file), $request);
    };
    $self->{origins}{$way} = CRCSync::Transparency::Origin->start($serve);
    return $self->{origins}{$way}->port;
}

sub way {
    my ($self, $way, $port) = @_;
    $self->{ways}{$way} = $port;
    return;
}

sub round {
    my ($self, $round, $version) = @_;
    CRCSync::Work::spew("$self->{dir}/version", $version);
    my @steps = map { steps($_, $round) } @{$self->{cases}};
    return {steps => \@steps, %{$self->fetch(map { $_ => \@steps } keys %{$self->{ways}})}};
}

# Fetches the steps of each way; the ways at the same time.
sub fetch {
    my ($self, %steps) = @_;
    my %result;
    my %pids;
    for my $way (sort keys %steps) {
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            my $done = eval {
                Storable::nstore($self->_fetch_all($self->{ways}{$way}, $steps{$way}), "$self->{dir}/$way");
                1;
            };
            warn "$way: $@" if !$done;
            POSIX::_exit($done ? 0 : 1);
        }
        $pids{$pid} = $way;
    }
    for my $pid (keys %pids) {
        waitpid $pid, 0;
        die "the reader '$pids{$pid}' failed\n" if $?;
    }
    for my $way (sort keys %steps) {
        my $responses = Storable::retrieve("$self->{dir}/$way");
        my %seen;
        push @{$seen{$_->{target}}}, $_ for $self->{origins}{$way}->requests;
        for my $step (@{$steps{$way}}) {
            push @{$result{$way}}, {response => shift @$responses, requests => $seen{$step->{target}} // []};
        }
        $self->{fetched} += @{$steps{$way}};
    }
    return \%result;
}

sub fetched { return $_[0]{fetched} }

sub _fetch_all {
    my ($self, $port, $steps) = @_;
    my @responses;
    my $client;
    for my $step (@$steps) {
        my %options = map { exists $step->{$_} ? ($_ => $step->{$_}) : () } qw(fields body chunks minor);
        $client //= CRCSync::Http->new($port);
        my $response = $client->request($step->{method}, $step->{target}, %options);
        push @responses, $response;
        my $connection = $response ? CRCSync::Stream::field($response, 'Connection') // '' : 'close';
        my $stays = $response && $response->{complete} && $connection !~ /close/i
            && ($response->{version} eq 'HTTP/1.1' && !$step->{minor} || $connection =~ /keep-alive/i);
        if (!$stays) {
            $client->close;
            $client = undef;
        }
    }
    $client->close if $client;
    return \@responses;
}

1;
