# The transparency test: fetches the same cases (CRCSync::Transparency::Cases) directly from the origin, through two
# plain proxies, and through the pair, and compares them (CRCSync::Transparency::Differences). docs/transparency.md
# explains it.
#
#   CRCSync::Transparency::run();
package CRCSync::Transparency;

use strict;
use warnings;

use CRCSync::Httpd;
use CRCSync::Pair;
use CRCSync::Stream;
use CRCSync::Test;
use CRCSync::Transparency::Answer qw(page);
use CRCSync::Transparency::Cases qw(cases rounds missing);
use CRCSync::Transparency::Differences;
use CRCSync::Transparency::Run;
use CRCSync::Work;

# What is compared, and whose changes may be between the two.
my @comparisons = (
    ['direct', 'plain', qw(proxies httpd)],
    ['plain', 'pair', qw(proxies modules)],
    ['direct', 'pair', qw(proxies httpd modules)],
);

sub run {
    my @cases = cases();
    is_deeply([missing(@cases)], [], 'every pair of values has its case');
    my $run = CRCSync::Transparency::Run->new(cases => \@cases);
    $run->way(direct => $run->origin_port('direct'));
    $run->way(plain => _plain_proxies($run->origin_port('plain')));
    my $pair = CRCSync::Pair->start(
        to     => $run->origin_port('pair'),
        server => _keep_alive(),
        client => _keep_alive(),
    );
    $run->way(pair => $pair->port);

    my @differences = map { CRCSync::Transparency::Differences->new(@$_[2 .. $#$_]) } @comparisons;
    my (%deltas, @no_delta);
    for (rounds()) {
        my ($round, $version) = @$_;
        my $result = _round($run, $pair, $round, $version);
        for my $n (0 .. $#comparisons) {
            my ($from, $to) = @{$comparisons[$n]};
            my @open = _compare($differences[$n], $result, $from, $to, $round, $version);
            is(scalar(@open), 0, "round $round, $from and $to: no difference but the allowed ones");
            diag("$_") for @open[0 .. ($#open < 19 ? $#open : 19)];
        }
        for my $x (grep { $round =~ /warm|changed|after/ && _is_due($_) } @{$result->{x}}) {
            $deltas{$round}++ if $x->{result} eq 'delta';
            push @no_delta, _name($x) . ": $x->{result}, $x->{reason}" if $x->{result} ne 'delta';
        }
    }
    is(scalar(@no_delta), 0, 'what can be a delta is one');
    diag("$_") for @no_delta[0 .. ($#no_delta < 9 ? $#no_delta : 9)];
    cmp_ok($deltas{$_} // 0, '>=', 40, "deltas in round $_: @{[$deltas{$_} // 0]}") for qw(warm changed after);

    my %used;
    for my $one (map { {$_->used} } @differences) { $used{$_} += $one->{$_} for keys %$one }
    for my $rule (sort keys %used) {
        cmp_ok($used{$rule}, '>', 0, "allowed, and needed by $used{$rule} fetches: $rule");
    }
    my $compared = 0;
    $compared += $_->compared for @differences;
    diag(sprintf '%d URLs, %d requests, %d comparisons', scalar @cases, $run->fetched, $compared);
    diag('alone: build/test.sh --only transparency');
    return;
}

sub _keep_alive { return "KeepAliveTimeout 300\nMaxKeepAliveRequests 0\n" }

# Two proxies as the pair's, without the modules.
sub _plain_proxies {
    my ($port) = @_;
    for my $name (qw(plain-server plain-client)) {
        my $httpd = CRCSync::Httpd->start(
            name    => $name,
            without => [qw(crccache_server crccache_client)],
            vars    => {TO => $port},
            conf    => _keep_alive() . qq{ProxyPass "/" "http://127.0.0.1:\@TO\@/"\n},
        );
        $port = $httpd->port;
    }
    return $port;
}

# Fetches a round. Adds {x}: step, page, and what the client module noted, for each step.
sub _round {
    my ($run, $pair, $round, $version) = @_;
    my $logged = $pair->client->log_count;
    my $result = $run->round($round, $version);
    my $steps = $result->{steps};
    my @log = $pair->client->log($logged + @$steps);
    my %note = map { $_->{url} => $_ } @log[$logged .. $#log];
    $result->{x} = [
        map {
            my $note = $note{$_->{target}};
            my %noted = (result => $note->{result}, reason => $note->{reason});
            {step => $_, round => $round, page => page($_->{case}, $version), %noted};
        } @$steps
    ];
    _follow_the_codings($run, $result);
    return $result;
}

# The modules ask for codings that they can undo. Where the origin chooses by that field, the reader is to get what it
# says to the field as it arrives: that is asked for in the other ways too.
sub _follow_the_codings {
    my ($run, $result) = @_;
    my (@index, @steps);
    for my $n (0 .. $#{$result->{steps}}) {
        my $step = $result->{steps}[$n];
        next unless $step->{case}{coding} eq 'negotiated';
        my ($plain, $pair) = map { _accept_encoding($result->{$_}[$n]{requests}[-1]) } qw(plain pair);
        next if ($plain // '') eq ($pair // '');
        my @fields = @{$step->{fields}};
        my @kept;
        while (my ($name, $value) = splice @fields, 0, 2) {
            push @kept, $name => $value if lc $name ne 'accept-encoding';
        }
        push @index, $n;
        push @steps, {%$step, fields => [@kept, 'Accept-Encoding' => $pair]};
    }
    my $again = $run->fetch(direct => \@steps, plain => \@steps);
    for my $way (keys %$again) {
        $result->{$way}[$index[$_]]{response} = $again->{$way}[$_]{response} for 0 .. $#index;
    }
    return;
}

sub _accept_encoding { return CRCSync::Stream::field($_[0] // {fields => []}, 'Accept-Encoding') }

# What no rule explains.
sub _compare {
    my ($differences, $result, $from, $to, $round, $version) = @_;
    my @open;
    for my $n (0 .. $#{$result->{steps}}) {
        my $x = $result->{x}[$n];
        my %x = (%$x, want => $result->{$from}[$n], got => $result->{$to}[$n]);
        $x{result} = '-' if $to ne 'pair';
        my @texts = ($differences->response(\%x), $differences->requests(\%x));
        push @open, map { _name($x) . ": $_" } @texts;
        $x->{status} = $x{got}{response}{status};
    }
    return @open;
}

sub _name {
    my ($x) = @_;
    my $case = $x->{step}{case};
    my @factors = sort grep { !/^(?:target|group|number|method)$/ } keys %$case;
    return join ' ', $x->{round}, $x->{step}{method}, $x->{step}{target}, map { "$_=$case->{$_}" } @factors;
}

# Whether the answer to this step can be a delta and there is a base for it.
sub _is_due {
    my ($x) = @_;
    my ($step, $case) = ($x->{step}, $x->{step}{case});
    my %fields = @{$step->{fields}};
    return $step->{method} eq 'GET' && $x->{status} == 200
        && !defined $step->{body} && !$step->{chunks} && !$fields{Range}
        && length $x->{page} >= 1024
        && $case->{coding} =~ /^(?:none|identity|x?-?gzip|deflate)$/
        && $case->{cache} !~ /^(?:no-store|private|quoted|no-transform)$/
        && $case->{other} !~ /^(?:cookies|md5|digest|repr|content|clear)$/
        && $case->{reader} !~ /^(?:auth|no-store)$/
        && $case->{accept} !~ /^(?:no plain|nothing)$/
        && $case->{type} ne 'stream'
        && $case->{tag} !~ /^our/
        && ($case->{status} == 200 || $case->{since} eq 'changed');
}

1;
