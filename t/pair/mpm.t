# Each MPM; and graceful restarts while readers fetch.
use strict;
use warnings;

use CRCSync::Pages;
use CRCSync::Pair;
use CRCSync::Test;
use POSIX ();

my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $n = $request->{number};
        my @fields = ('Content-Type' => 'text/html', 'X-Serial' => $n);
        $connection->send(CRCSync::Origin::response(body => CRCSync::Pages::page('mpm', $n, 40_000), fields => \@fields));
    }
);

for my $mpm (qw(event worker prefork)) {
    my $pair = CRCSync::Pair->start(to => $origin->port, mpm => $mpm);
    my $right = sub {
        my ($response) = @_;
        my $serial = $response ? field($response, 'X-Serial') : 0;
        return $serial && $response->{complete} && $response->{body} eq CRCSync::Pages::page('mpm', $serial, 40_000);
    };
    for my $turn (1 .. 4) {
        my ($response, @exchanges) = $pair->get('/page');
        ok($right->($response), "$mpm, fetch $turn");
        is(field($exchanges[0]{response}, 'Content-Encoding'), $turn > 1 ? 'crcsync' : undef, "$mpm, fetch $turn: delta");
    }
    # Readers that go on while both proxies restart.
    my @readers;
    my $stop = CRCSync::Work::new_dir('stop') . '/stop';
    for (1 .. 3) {
        my $pid = fork // die;
        if (!$pid) {
            my $wrong = 0;
            for (1 .. 2_000) {
                last if -e $stop;
                $wrong++ unless $right->(eval { http_get($pair->port, '/page') });
            }
            POSIX::_exit($wrong > 250 ? 250 : $wrong);
        }
        push @readers, $pid;
    }
    for (1 .. 3) {
        $pair->client->graceful;
        $pair->server->graceful;
    }
    spew($stop, '');
    my @wrong = map { waitpid($_, 0); $? >> 8 } @readers;
    is("@wrong", '0 0 0', "$mpm: graceful restarts cost no reader a page");
    $pair->relay->exchanges;
    my ($response, @exchanges) = $pair->get('/page');
    ok($right->($response), "$mpm, after graceful restarts");
    is(field($exchanges[-1]{response}, 'Content-Encoding'), 'crcsync', "$mpm: the base has survived them");
    $_->stop for $pair->client, $pair->server, $pair->relay;
}

done_testing;
