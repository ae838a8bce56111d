# C22: 1,000,000 requests and no growth (100,000 with worker and with prefork; some thousands of each in the fast size).
# Deltas, full pages, HEAD, conditional requests and errors go through both modules; the children's memory is a flat line.
use strict;
use warnings;

use CRCSync::Load;
use CRCSync::Memory qw(children_hold parent_holds growth sanitizer_keeps);
use CRCSync::Test;

my %requests = (
    event   => soak(fast => 2_500, full => 1_000_000),
    worker  => soak(fast => 1_000, full => 100_000),
    prefork => soak(fast => 1_000, full => 100_000),
);
my $slices = soak(fast => 6, full => 30);

for my $mpm (sort keys %requests) {
    my $load = CRCSync::Load->new(mpm => $mpm);
    is($load->sample(2), 0, "C22: $mpm: the pages are right") or diag($load->{fault});
    my %children = map { $_ => join ' ', sort $load->pair->$_->children } qw(server client);
    my %parent = map { $_ => parent_holds($load->pair->$_) } qw(server client);
    my (%held, %parent_held);
    my ($answered, $wrong) = (0, 0);
    for (1 .. $slices) {
        $answered += $load->requests(int $requests{$mpm} / $slices);
        $wrong += $load->sample(1);
        for my $side (qw(server client)) {
            push @{$held{$side}}, children_hold($load->pair->$side);
            push @{$parent_held{$side}}, parent_holds($load->pair->$side)->{memory};
        }
    }
    cmp_ok($answered, '>=', 0.99 * $requests{$mpm}, "C22: $mpm: $answered requests are answered");
    is($wrong, 0, "C22: $mpm: no wrong byte in the sample") or diag($load->{fault});
    my ($ok, $moved, $refused, $failed) = $load->statuses;
    cmp_ok($ok, '>', $answered / 2, "C22: $mpm: most are pages");
    my %some = ('3xx' => $moved, '4xx' => $refused, '5xx' => $failed);
    cmp_ok($some{$_}, '>', $answered / 50, "C22: $mpm: some are $_") for sort keys %some;
    my %counters = $load->counters($load->pair->client);
    cmp_ok($counters{CRCSyncClientDelta}, '>', $answered / 4, "C22: $mpm: many are deltas");
    is($counters{CRCSyncClientFaults}, 0, "C22: $mpm: no faults");
    figure("C22: $mpm: requests" => $answered);
    figure("C22: $mpm: deltas" => $counters{CRCSyncClientDelta});
    for my $side (qw(server client)) {
        my @now = sort $load->pair->$side->children;
        is("@now", $children{$side}, "C22: $mpm: the $side proxy's children are the same");
        # 4 bytes for each request, and what a short run has of malloc's own ups and downs.
        my $allowed = 3_000 + 4 * $requests{$mpm} / 1_024 + sanitizer_keeps(scalar @now);
        my $climbed = growth(@{$held{$side}});
        cmp_ok($climbed, '<', $allowed, "C22: $mpm: the $side proxy's children climb by $climbed kB");
        figure("C22: $mpm: $side proxy's children hold at the end, kB" => $held{$side}[-1]);
        figure("C22: $mpm: $side proxy's children climb in the last two thirds, kB" => $climbed);
        $climbed = growth(@{$parent_held{$side}});
        cmp_ok($climbed, '<', 200, "C22: $mpm: the $side proxy's parent climbs by $climbed kB");
        my $holds = parent_holds($load->pair->$side);
        is($holds->{$_}, $parent{$side}{$_}, "C22: $mpm: the $side proxy's parent: $_") for qw(files shared);
    }
    $load->stop;
}

# The upstream that is not there; and prefork says once that all children are busy.
allow_log(qr/\[proxy|AH00161/);
done_testing;
