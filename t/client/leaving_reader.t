# A reader who has closed his connection looks at first like one who has only closed his sending side (half_close.t), since
# both send a FIN. The upstream is not read to its end for him: this one would send for ten minutes, a section of nothing at
# a time. It takes the time for which his system remembers a closed connection, a minute.
use strict;
use warnings;

use CRCSync::Httpd;
use CRCSync::Pair;
use CRCSync::Test;
use Socket qw(SOL_SOCKET SO_LINGER);

my $page = text(160_000, 1);
my $ended = CRCSync::Work::new_dir('ended') . '/ended';
my $patient = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my @fields = ('Content-Type' => 'text/html');
        if (!defined field($request, 'If-Block')) {
            $connection->send(CRCSync::Origin::response(body => $page, fields => \@fields));
            return;
        }
        $connection->send("HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\nTransfer-Encoding: chunked\r\n\r\n");
        my ($sent, $nothing) = (0, "L\0\0\0\0");
        while ($sent < 1_200) {
            $connection->send(sprintf "%x\r\n%s\r\n", length $nothing, $nothing) or last;
            $sent++;
            select undef, undef, undef, 0.5;
        }
        spew($ended, $sent);
        $connection->close;
    }
);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    vars    => {TO => $patient->port},
    conf    => CRCSync::Pair::client_conf(),
);
is_body(http_get($client->port, '/page')->{body}, $page, 'a base of the patient origin');
my $reader = CRCSync::Http->new($client->port);
$reader->send_request(GET => '/page');
CRCSync::Work::wait_for('the delta to begin', sub { grep { defined field($_, 'If-Block') } $patient->requests });
$reader->close;
CRCSync::Work::wait_for('the upstream to be left', sub { -e $ended }, 300);
cmp_ok(slurp($ended), '<', 1_200, 'C18: the upstream is left when the reader has closed his connection');
is($client->last_log(2)->{result}, 'full', 'C18: the request has ended');

$patient->requests;
$reader = CRCSync::Http->new($client->port);
$reader->send_request(GET => '/page');
CRCSync::Work::wait_for('a third request', sub { grep { defined field($_, 'If-Block') } $patient->requests });
pass('C18: the base is still there');
# A reset is seen at once.
unlink $ended;
setsockopt $reader->socket, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;
$reader->close;
CRCSync::Work::wait_for('the upstream to be left again', sub { -e $ended });
cmp_ok(slurp($ended), '<', 100, 'C18: a reset is seen at once');
done_testing;
