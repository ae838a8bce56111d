# C28: 500 readers at once of one page that changes with each request: no wrong byte, no damaged base, no deadlock.
use strict;
use warnings;

use CRCSync::Load;
use CRCSync::Test;
use IO::Select;

my $readers = 500;
my $rounds = soak(fast => 1, full => 20);
# A thread for each from the start: an httpd that runs short closes connections just when mod_proxy uses them again.
my $limits = "StartServers 10\nServerLimit 10\nThreadsPerChild 60\nMaxRequestWorkers 600\nMinSpareThreads 1\nMaxSpareThreads 600\n";
my $load = CRCSync::Load->new(limits => $limits);
my $pair = $load->pair;
is($load->fault('/page.shtml'), undef, 'a base') for 1, 2;

my ($right, %fault) = (0);
for (1 .. $rounds) {
    my @http = map { CRCSync::Http->new($pair->port) } 1 .. $readers;
    $_->send_request(GET => '/page.shtml', fields => [Connection => 'close']) for @http;
    # All have asked before the first is read.
    for my $http (@http) {
        my $response = eval { $http->response };
        my $fault = $response ? $load->fault_of('/page.shtml', $response) : "no answer: $@";
        $http->close;
        if (defined $fault) { $fault{$fault =~ s/ for .*//r}++ }
        else                { $right++ }
    }
}
is($right, $rounds * $readers, "C28: $rounds times $readers readers at once: all got the right page")
    or diag(map { "$fault{$_} times: $_\n" } sort keys %fault);
my %counters = $load->counters($pair->client);
figure('C28: pages' => $right);
figure('C28: deltas among them' => $counters{CRCSyncClientDelta});
cmp_ok($counters{CRCSyncClientDelta}, '>', $rounds * $readers / 3, 'C28: many of them as deltas');
is($counters{"CRCSyncClient$_"}, 0, "C28: $_") for qw(Refetched Faults ReasonHashMismatch ReasonStoreError);

# The base that is left is a good one.
my $deltas = $counters{CRCSyncClientDelta};
is($load->fault('/page.shtml'), undef, 'C28: the page afterwards') for 1, 2;
%counters = $load->counters($pair->client);
is($counters{CRCSyncClientDelta}, $deltas + 2, 'C28: as deltas');

done_testing;
