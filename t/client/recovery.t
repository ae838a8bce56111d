# The second fetch everywhere: each MPM, reverse and forward proxy, HTTP/1.1 and HTTP/2 readers.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(make_delta);
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my $base = text(30_000, 1);
my @html = ('Content-Type' => 'text/html');

for my $mpm (qw(event worker prefork)) {
    my $alone = CRCSync::ClientAlone->start(
        mpm     => $mpm,
        modules => $mpm eq 'prefork' ? [] : ['http2'],
        ports   => ['FORWARD'],
        conf    => ($mpm eq 'prefork' ? '' : "Protocols h2c http/1.1\n") . <<'END',
Listen 127.0.0.1:@FORWARD@
<VirtualHost 127.0.0.1:@FORWARD@>
    ProxyRequests On
</VirtualHost>
END
    );
    my ($port, $forward, $origin) = ($alone->port, $alone->client->port('FORWARD'), $alone->origin->port);
    my %ways = (
        reverse => ["http://127.0.0.1:$port"],
        forward => ["http://127.0.0.1:$origin", '--proxy', "http://127.0.0.1:$forward"],
        $mpm eq 'prefork' ? () : (h2c => ["http://127.0.0.1:$port", '--http2-prior-knowledge']),
    );
    for my $way (sort keys %ways) {
        my ($url, @options) = @{$ways{$way}};
        unshift @options, '--noproxy', '*' if $way ne 'forward';
        my $get = sub {
            my ($target) = @_;
            open my $curl, '-|', 'curl', '-sS', '-w', "\n%{http_code}", @options, "$url$target" or die "curl: $!\n";
            local $/ = undef;
            return (<$curl> // '') =~ s/\n(\d+)\z//r;
        };
        for my $how (['corrupt', body => 'X'], ['cut', raw => "HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\nContent-Length: 9\r\n\r\nL", close => 1],
            ['refused', status => 400, body => 'no'])
        {
            my ($name, %answer) = @$how;
            my $what = "$mpm, $way, $name";
            my $target = "/$way-$name";
            $alone->full($target, body => $base, fields => [@html]);
            is_body($get->($target), $base, "$what: the base");
            $alone->with_if_block($target, fields => [@html, 'Content-Encoding' => 'crcsync'], %answer);
            $alone->requests;
            is_body($get->($target), $base, "$what: the page by a second fetch");
            my @requests = $alone->requests;
            is(join(' ', map { defined field($_, 'If-Block') ? 1 : 0 } @requests), '1 0', "$what: with If-Block, then without");
            is($requests[0]{target}, $requests[1]{target}, "$what: of the same URL");
            is(field($requests[0], 'Host'), field($requests[1], 'Host'), "$what: and host");
            is($requests[1]{target}, $target, "$what: as it was");
        }
        my $target = "/$way-delta";
        $alone->full($target, body => $base, fields => [@html]);
        $get->($target);
        my ($delta, $new) = make_delta($base, $n, 'new', map { [$_] } 0 .. $n - 1);
        $alone->delta($target, $delta);
        is_body($get->($target), $new, "$mpm, $way: a delta");
        $alone->full($target, status => 500, body => 'broken', fields => [@html]);
        $alone->delta($target, 'X');
        is($get->($target), 'broken', "$mpm, $way: the second fetch's own error");
    }
    $alone->client->stop;
}

expect_log(qr/the delta gives no instance/);
allow_log(qr/AH01110|proxy_http:error|ssl:warn/);
done_testing;
