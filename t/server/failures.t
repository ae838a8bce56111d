# What fails in the middle: the client sees a delta that has no end, never a whole one of wrong bytes (C17, C18, C19).
use strict;
use warnings;

use Compress::Zlib qw(memGzip);
use CRCSync::Delta qw(if_block apply_delta);
use CRCSync::Memory qw(sanitizer_keeps);
use CRCSync::ServerAlone;
use CRCSync::Test;

my $page = text(100_000, 1);
my @ask = ('changed' . $page, 40);
my $origin = CRCSync::Origin->start;
my $server = CRCSync::ServerAlone->start(to => $origin->port);
my @children = $server->httpd->children;

sub fields { return "Content-Type: text/html\r\n" . join '', map { "$_\r\n" } @_ }

sub is_cut {
    my ($response, $name) = @_;
    $name = "C17: $name";
    if (!$response || $response->{status} == 502) {
        pass("$name: no answer, or 502");
        return;
    }
    ok(!$response->{complete}, "$name: not complete");
    ok(!defined eval { apply_delta($response->{body}, @ask) }, "$name: no whole delta");
    return;
}

my $gzip = memGzip($page);
my $half = substr $page, 0, 50_000;
my $gzip_half = substr $gzip, 0, length($gzip) / 2;
my $corrupt = $gzip;
substr($corrupt, length($gzip) / 2, 4) = "\xff\xff\xff\xff";
my $long = length $page;
for (
    ['a length, cut', "Content-Length: $long", $half],
    ['a length, cut after nothing', "Content-Length: $long", ''],
    ['chunked, cut', 'Transfer-Encoding: chunked', sprintf "%x\r\n%s", $long, $half],
    ['chunked, cut between chunks', 'Transfer-Encoding: chunked', sprintf "%x\r\n%s\r\n", length $half, $half],
    ['gzip, its end missing', "Content-Encoding: gzip\r\nContent-Length: " . length $gzip_half, $gzip_half],
    ['gzip, corrupt', "Content-Encoding: gzip\r\nContent-Length: " . length $corrupt, $corrupt],
    ['gzip that is none', "Content-Encoding: gzip\r\nContent-Length: $long", $page],
    )
{
    my ($name, $fields, $body) = @$_;
    $origin->put('/cut', raw => "HTTP/1.1 200 OK\r\n" . fields($fields) . "\r\n" . $body, close => 1);
    is_cut($server->ask(@ask, '/cut'), $name);
    is($server->log->{reason}, 'upstream-error', "$name: the reason");
}
allow_log(qr/\[proxy(?:_http)?:error\]/);
allow_log(qr/crccache_server:error.* \/cgi\/20000: the response is cut off \(upstream-error\)/);
expect_log(qr/crccache_server:error.* \/cut: the response is cut off \(upstream-error\)/);

# mod_proxy tells of a body that broke off by an ERROR bucket behind what has come: also right behind the head.
for my $came ('', substr $page, 0, 30_000) {
    my $chunk = length $came ? sprintf "%x\r\n%s\r\n", length $came, $came : '';
    $origin->put('/cut', raw => "HTTP/1.1 200 OK\r\n" . fields('Transfer-Encoding: chunked') . "\r\n${chunk}3e8\r\nxx", close => 1);
    my $broken = $server->ask(@ask, '/cut');
    my $name = 'C20: an ERROR bucket after ' . length($came) . ' bytes';
    ok(!$broken || $broken->{status} == 502 || !$broken->{complete}, "$name: no whole response");
    ok(!defined eval { apply_delta($broken->{body}, @ask) }, "$name: no whole delta");
}
$server->children_live(@children);

$origin->put('/whole', body => $page, fields => ['Content-Type' => 'text/html']);
$server->is_delta($server->ask(@ask, '/whole'), @ask, $page, 'C17: the next page is whole');

# Nobody there: httpd's own 502, with our fields.
my $dead = CRCSync::ServerAlone->start(to => CRCSync::Work::free_port());
my $response = $dead->ask(@ask, '/page');
is($response->{status}, 503, 'an origin that does not listen');
is(field($response, 'Vary'), 'If-Block', 'its error page has Vary');
is(field($response, 'Content-Encoding'), undef, 'and no coding');

# A file that shrinks while it is sent: not a short page with a hash that fits.
my $files = CRCSync::ServerAlone->start(conf => "EnableMMAP On\nCRCSyncServerCompressionLevel 0\n");
my $file = $files->dir . '/htdocs/large.bin';
spew($file, random_bytes(1_000_000, 1) x 40);
my $client = CRCSync::Http->new($files->port);
$client->send_request(GET => '/large.bin', fields => ['If-Block' => if_block(@ask)]);
my $early = $client->response(progress => sub { $_[0] && length $_[0]{body} });
is(field($early, 'Content-Encoding'), 'crcsync', 'a large file is on its way');
truncate $file, 20_000_000;
$response = $client->response;
ok(!$response || !$response->{complete}, 'C17: a file that shrinks meanwhile: not complete');
expect_log(qr/crccache_server:error.* \/cgi\/60000: the response is cut off \(upstream-error\)/);
expect_log(qr/crccache_server:error.* \/large.bin: the response is cut off \(upstream-error\)/);
is($files->httpd->last_log(1)->{reason}, 'upstream-error', 'a file that shrinks: the reason');

# A script that announces another length than it gives: nobody can tell which part of the page is missing.
my $cgi = CRCSync::ServerAlone->start(modules => ['cgid'], conf => <<'END');
ScriptSock @DIR@/cgisock
ScriptAlias /cgi/ @DIR@/cgi/
# Otherwise httpd drops the length that a script announces.
SetEnv ap_trust_cgilike_cl 1
END
mkdir $cgi->dir . '/cgi';
for my $length (20_000, 60_000) {
    spew($cgi->dir . "/cgi/$length",
        "#!/bin/sh\nprintf 'Content-Type: text/html\\nContent-Length: $length\\n\\n%040000d' 0\n");
    chmod 0755, $cgi->dir . "/cgi/$length";
    is_cut($cgi->ask(@ask, "/cgi/$length"), "a script that announces $length bytes and gives 40000");
    is($cgi->log->{reason}, 'upstream-error', "a script that announces $length bytes: the reason");
}

# A reader who leaves: the upstream is let go soon, not after its endless page.
my $sent = CRCSync::Work::new_dir('sent');
my $endless = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $chunk = sprintf "%x\r\n%s\r\n", 100_000, $page;
        my $count = 0;
        $connection->send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n");
        $count++ while $count < 20_000 && $connection->send($chunk);
        spew("$sent/$request->{number}", $count);
    }
);
my $left = CRCSync::ServerAlone->start(to => $endless->port);
$client = CRCSync::Http->new($left->port);
$client->send_request(GET => '/endless', fields => ['If-Block' => if_block(@ask)]);
$client->response(progress => sub { $_[0] && length $_[0]{body} });
$client->close;
my $log = $left->httpd->last_log(1);
is($log->{result}, 'delta', 'a reader who leaves: the result');
is($log->{reason}, 'truncated', 'C18: a reader who leaves: the reason');
CRCSync::Work::wait_for('the origin', sub { -s "$sent/1" });
cmp_ok(slurp("$sent/1"), '<', 20_000, 'C18: a reader who leaves: the origin is let go before its end');

# Memory does not grow with the body: a child that has sent 10 MB needs no more for 300 MB. Only one child, so that it
# is the same one.
sub peak {
    my ($pid) = @_;
    my ($kib) = slurp("/proc/$pid/status") =~ /^VmHWM:\s+(\d+) kB/m;
    return $kib;
}

sub drain {
    my ($port, $target, $value) = @_;
    my $http = CRCSync::Http->new($port);
    $http->send_request(GET => $target, fields => ['If-Block' => $value, Connection => 'close']);
    my ($count, $end, $bytes) = (0, '');
    while (my $got = sysread $http->socket, $bytes, 1_000_000) {
        $count += $got;
        $end = substr $end . $bytes, -100;
    }
    return ($count, $end);
}
my $allowed = 3_000 + sanitizer_keeps(1);
my $small = CRCSync::ServerAlone->start(mpm => 'prefork', conf => <<'END');
CRCSyncServerCompressionLevel 1
StartServers 1
MinSpareServers 1
MaxSpareServers 1
MaxRequestWorkers 1
END
for (['zeros', "\0" x 1_000_000], ['text', text(1_000_000, 2)], ['noise', random_bytes(1_000_000, 3)]) {
    my ($name, $bytes) = @$_;
    my $value = if_block(substr($bytes, 0, 100_000), 40);
    for my $megabytes (10, 300) {
        next if $name ne 'zeros' && $megabytes == 300;
        open my $out, '>', $small->dir . "/htdocs/$name.$megabytes" or die;
        print $out $bytes for 1 .. ($name eq 'zeros' ? 1 : $megabytes);
        truncate $out, $megabytes * 1_000_000;
        close $out;
    }
    if ($name ne 'zeros') {
        open my $out, '>', $small->dir . "/htdocs/$name.300" or die;
        print $out $bytes for 1 .. 100;
        close $out;
    }
    drain($small->port, "/$name.10", $value);
    my ($child) = $small->httpd->children;
    my $before = peak($child);
    my ($count, $end) = drain($small->port, "/$name.300", $value);
    like($end, qr/S.{20}\r\n0\r\n\r\n$/s, "$name: a whole delta of $count bytes");
    cmp_ok(peak($child) - $before, '<', $allowed, "C19: $name: KiB that a longer body takes");
    unlink glob $small->dir . '/htdocs/*';
}

allow_log(qr/mpm_prefork:error.*reached MaxRequestWorkers/);
$server->children_live(@children);
done_testing;
