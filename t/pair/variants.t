# C29: 10,000 variants of one URL (1,000 in the fast size): look-ups stay bounded, and so does the disk.
use strict;
use warnings;

use CRCSync::Memory qw(children_hold growth sanitizer_keeps);
use CRCSync::Pair;
use CRCSync::Test;
use File::Find ();

my $variants = soak(fast => 500, full => 10_000);
my $text = text(8_000, 5);
my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $kind = field($request, 'X-Kind') // 'none';
        my @fields = ('Content-Type' => 'text/html', Vary => 'X-Kind');
        $connection->send(CRCSync::Origin::response(body => "$kind\n$text$kind\n", fields => \@fields));
    }
);
my $quiet = "LogLevel notice\n";
my $pair = CRCSync::Pair->start(to => $origin->port, relay => 0, client => $quiet, server => $quiet);

sub files {
    my ($count, $bytes) = (0, 0);
    # httpd removes files meanwhile.
    my $look = sub {
        return unless -f;
        ++$count;
        $bytes += -s _ // 0;
    };
    File::Find::find({no_chdir => 1, wanted => $look}, $pair->client->dir . '/cache');
    return ($count, $bytes);
}

my $http = CRCSync::Http->new($pair->port);

sub fetch {
    my ($kind) = @_;
    my $response = $http->request(GET => '/page', fields => ['X-Kind' => $kind]);
    # A connection ends after a hundred requests.
    if ((field($response, 'Connection') // '') eq 'close' || !$response->{complete}) {
        $http->close;
        $http = CRCSync::Http->new($pair->port);
    }
    return $response->{body} eq "$kind\n$text$kind\n";
}

my ($wrong, @files, @held) = (0);
for my $n (1 .. $variants) {
    $wrong++ unless fetch("kind $n");
    next if $n % ($variants / 20);
    push @files, (files())[0];
    push @held, children_hold($pair->client);
}
is($wrong, 0, "C29: $variants variants: all bytes are right");
my ($count, $bytes) = files();
# A list of names and 64 places, each of two files, and what is just being put in place.
cmp_ok($count, '<=', 2 * (1 + 64) + 4, "C29: they take $count files");
cmp_ok($bytes, '<', 65 * 20_000, "C29: of $bytes bytes");
cmp_ok($files[-1], '<=', $files[9], 'C29: the second half of them takes no more than the first') if $variants >= 1_000;
figure("C29: files for $variants variants" => $count);
figure("C29: bytes in them" => $bytes);
my $climbed = growth(@held);
cmp_ok($climbed, '<', 1_500 + sanitizer_keeps(1), "C29: the client proxy climbs by $climbed kB");

# A variant that has kept its place gets deltas; all others still get their page.
ok(fetch('kind 7'), 'C29: one again');
ok(fetch('kind 7'), 'C29: and again');
is($pair->client->last_log($variants + 2)->{result}, 'delta', 'C29: as a delta');

done_testing;
