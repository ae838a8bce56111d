# Brigades of all shapes (C14, C20): what a handler may pass, and what it should not but might.
use strict;
use warnings;

use CRCSync::Pages;
use CRCSync::ServerAlone;
use CRCSync::Test;
use IO::Socket::INET;
use POSIX ();

my $dir = CRCSync::Work::t_dir();
my $server = CRCSync::ServerAlone->start(modules => ['perl'], conf => <<"END");
PerlSwitches -I$dir/lib
PerlModule TestOrigin::Buckets
<Location /buckets>
    SetHandler modperl
    PerlResponseHandler TestOrigin::Buckets
</Location>
SetOutputFilter CRCSYNC_ENCODE
CRCSyncServerMinSize 100
END
expect_log(qr/line \d+: SetOutputFilter: CRCSYNC_ENCODE has no effect/);
my $page = substr CRCSync::Pages::page('buckets', 3, 30_000), 0, 30_000;
my @ask = ('changed' . $page, 100);
my $field = CRCSync::Delta::if_block(@ask);
my @children = $server->httpd->children;

# Each is one response, whole and of the right bytes.
for my $buckets (
    'd30000.eos.b',
    'd30000.b.eos.b',
    'd30000.b',                           # the EOS is httpd's own
    'b.b.d30000.b.b.eos.b',               # empty brigades
    'z.b.z.b.d30000.b.z.b.eos.b',         # empty data
    'f.b.d30000.eos.b',                   # a FLUSH before any data
    'f.f.b.f.b.d15000.b.f.f.b.d15000.eos.b',
    'd30000.f.eos.b',                     # a FLUSH just before EOS
    'd30000.b.f.b.eos.b',
    'z.f.z.d30000.z.f.z.eos.b',
    'd1.f.' x 50 . 'd29950.b.eos.b',
    'd1.b.' x 50 . 'd29950.b.eos.b',
    'd65536.eos.b',
    'd30000.eos.eos.b',                   # EOS twice
    'd30000.eos.b.eos.b.eos.b',
    'd30000.eos.b.f.b',                   # metadata after the end
    'd30000.eos.b.b',
    )
{
    my $name = ($buckets =~ /\bf\./ ? 'C14: ' : 'C20: ') . $buckets =~ s/(?:\w+\.[fb]\.){10,}/.../r;
    $server->is_delta($server->ask(@ask, "/buckets?$buckets"), @ask, $page, $name);
    is_body($server->get("/buckets?$buckets")->{body}, $page, "$name: without If-Block");
}

# Data after the end is none of the page's, nor of the next response on the connection.
for my $buckets ('d20000.eos.d100.b', 'd20000.eos.b.d100.b', 'd20000.eos.b.d100.eos.b', 'd20000.b.eos.b.d100.b') {
    my $client = CRCSync::Http->new($server->port);
    for my $turn (1 .. 3) {
        my $response = $client->request(GET => "/buckets?$buckets", fields => ['If-Block' => $field]);
        $server->is_delta($response, @ask, substr($page, 0, 20_000), "C20: $buckets, request $turn");
        $server->{asked}++;
    }
}
# No data at all.
for my $buckets ('eos.b', 'b.eos.b', 'z.eos.b', 'z.b.z.eos.b', '', 'b.b') {
    $server->is_full($server->ask(@ask, "/buckets?$buckets"), '', 'too-small', "C20: nothing: '$buckets'");
}
$server->is_delta($server->ask(@ask, '/buckets?f.b.eos.b'), @ask, '', 'C20: nothing, but the header had to go first');
# What is known of the size at the first data decides.
$server->is_full($server->ask(@ask, '/buckets?b.z.d60.d39.eos.b'), substr($page, 0, 99), 'too-small', '99 bytes');
$server->is_delta($server->ask(@ask, '/buckets?d60.d40.eos.b'), @ask, substr($page, 0, 100), '100 bytes');
$server->is_delta($server->ask(@ask, '/buckets?d60.b.eos.b'), @ask, substr($page, 0, 60), '60 bytes and no end yet');

$server->children_live(@children);

# The kinds of buckets that httpd's own handlers make: FILE, MMAP (mod_file_cache), PIPE (a CGI), SOCKET (mod_proxy_scgi).
my $scgi = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die "no socket: $@\n";
my $scgi_pid = fork // die "fork: $!\n";
if (!$scgi_pid) {
    while (my $connection = $scgi->accept) {
        sysread $connection, my $request, 65_536;
        syswrite $connection, "Status: 200 OK\r\nContent-Type: text/html\r\n\r\n";
        for my $part (unpack '(a7000)*', $page) { syswrite $connection, $part }
        close $connection;
    }
    POSIX::_exit(0);
}
CRCSync::Work::note_pid($scgi_pid);
my $mapped = CRCSync::Work::new_dir('mapped');
mkdir "$mapped/cgi" or die "$mapped/cgi: $!\n";
spew("$mapped/page.html", $page);
spew("$mapped/cgi/page", "#!/bin/sh\nprintf 'Content-Type: text/html\\n\\n'\ncat '$mapped/page.html'\n");
chmod 0755, "$mapped/cgi/page";
my $kinds = CRCSync::ServerAlone->start(
    modules => [qw(file_cache cgid proxy_scgi)],
    vars    => {SCGI => $scgi->sockport, MAPPED => $mapped},
    conf    => <<'END',
Alias /mapped.html @MAPPED@/page.html
MMapFile @MAPPED@/page.html
ScriptSock @DIR@/cgisock
ScriptAlias /cgi/ @MAPPED@/cgi/
ProxyPass /scgi scgi://127.0.0.1:@SCGI@/
EnableMMAP Off
END
);
$kinds->page('file.html', $page);
for my $kind ([FILE => '/file.html'], [MMAP => '/mapped.html'], [PIPE => '/cgi/page'], [SOCKET => '/scgi/page']) {
    my ($name, $target) = @$kind;
    $kinds->is_delta($kinds->ask(@ask, $target), @ask, $page, "C20: $name buckets");
    is_body($kinds->get($target)->{body}, $page, "C20: $name buckets: without If-Block");
}
CRCSync::Work::end_process($scgi_pid);
done_testing;
