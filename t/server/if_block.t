# If-Block fields of all kinds (C34): a bad one gives the full page with the reason, and the child lives.
use strict;
use warnings;

use CRCSync::Delta qw(if_block);
use CRCSync::ServerAlone;
use CRCSync::Test;
use MIME::Base64 qw(encode_base64);

my $server = CRCSync::ServerAlone->start(conf => "LimitRequestFieldSize 16000\nCRCSyncServerMaxBlockSize 5000\n");
my $page = text(40_000, 1);
my $base = text(20_000, 1) . text(20_000, 2);
$server->page('page.html', $page);
my @children = $server->httpd->children;

my $good = if_block($base, 40);
my ($hashes) = $good =~ /h=(\S+)/;
my $good_size = length $base;
sub hashes { return encode_base64(random_bytes(8 * $_[0]), '') }

for (
    ['as our client writes it', $good],
    ['no version', "fs=$good_size; h=$hashes"],
    ['another order', "h=$hashes; v=1; fs=$good_size"],
    ['no blanks', "v=1;fs=$good_size;h=$hashes"],
    ['many blanks', " v=1 ;\t fs=$good_size ;  h=$hashes "],
    ['unknown parts', "x; v=1; new=thing=2; fs=$good_size; h=$hashes;"],
    ['without padding', $good =~ s/=+$//r],
    )
{
    my ($name, $value) = @$_;
    $server->is_delta($server->get('/page.html', 'If-Block' => $value), $base, 40, $page, $name);
}
for my $count (1, 2, 255, 256) {
    my $part = substr $base, 0, 5_000;
    $server->is_delta($server->get('/page.html', 'If-Block' => if_block($part, $count)), $part, $count, $page,
        "$count blocks");
}
$server->is_delta($server->get('/page.html', 'If-Block' => if_block('abc', 3)), 'abc', 3, $page, 'blocks of one byte');
# All hashes the same, and hashes of nothing that exists.
$server->is_delta($server->get('/page.html', 'If-Block' => 'fs=4000; h=' . encode_base64("\0" x 320, '')), "\0" x 4000,
    40, $page, 'hashes of zeros');
$server->is_delta($server->get('/page.html', 'If-Block' => 'fs=40000; h=' . hashes(40)), 'x' x 40_000, 40, $page,
    'hashes that match nothing');

for (
    ['fs=10',               "v=1; fs=10; h=" . hashes(11)],
    ['fs=0',               "v=1; fs=0; h=$hashes"],
    ['fs=10 for 40 hashes', "v=1; fs=10; h=$hashes"],
    ['fs=-1',              "v=1; fs=-1; h=$hashes"],
    ['fs=+1000',           "v=1; fs=+1000; h=$hashes"],
    ['fs in hex',          "v=1; fs=0x1000; h=$hashes"],
    ['fs=2^64',            "v=1; fs=18446744073709551616; h=$hashes"],
    ['fs=2^64 + 40000',    "v=1; fs=18446744073709591616; h=$hashes"],
    ['fs empty',           "v=1; fs=; h=$hashes"],
    ['fs missing',         "v=1; h=$hashes"],
    ['fs twice',           "v=1; fs=$good_size; fs=$good_size; h=$hashes"],
    ['h missing',          "v=1; fs=$good_size"],
    ['h empty',            "v=1; fs=$good_size; h="],
    ['h twice',            "v=1; fs=$good_size; h=$hashes; h=$hashes"],
    ['h of 7 bytes',       "v=1; fs=$good_size; h=" . encode_base64('1234567', '')],
    ['h of 9 bytes',       "v=1; fs=$good_size; h=" . encode_base64('123456789', '')],
    ['h not base64',       "v=1; fs=$good_size; h=" . '*' x 428],
    ['h in the URL alphabet', "v=1; fs=$good_size; h=" . '-_' x 214],
    ['blanks in h',        "v=1; fs=$good_size; h=" . substr($hashes, 0, 100) . ' ' . substr($hashes, 100)],
    ['padding in h',       "v=1; fs=$good_size; h=" . ('AAAAAAAAAAA=' x 2)],
    ['257 hashes',         "v=1; fs=1000000; h=" . hashes(257)],
    ['a version that is none', "v=one; fs=$good_size; h=$hashes"],
    ['two versions',       "v=1; v=1; fs=$good_size; h=$hashes"],
    ['nothing',            ''],
    ['only semicolons',    ';' x 1000],
    ['only equals signs',  '=' x 1000],
    ['bytes above 127',    join '', map { chr } 128 .. 255],
    ['9000 bytes',         "v=1; fs=$good_size; h=$hashes; x=" . 'x' x 9000],
    )
{
    my ($name, $value) = @$_;
    $server->is_full($server->get('/page.html', 'If-Block' => $value), $page, 'bad-if-block', "C34: $name");
}
for (['2', 'unsupported-version'], ['0', 'unsupported-version'], ['99999999999999999999', 'bad-if-block']) {
    my ($version, $reason) = @$_;
    $server->is_full($server->get('/page.html', 'If-Block' => "v=$version; fs=$good_size; h=$hashes"), $page, $reason,
        "C34: version $version");
}
for my $size ('200001', '2147483647', '2147483648', '2147483649', '9223372036854775808', '18446744073709551615') {
    $server->is_full($server->get('/page.html', 'If-Block' => "v=1; fs=$size; h=$hashes"), $page, 'block-limit',
        "C34: fs=$size: blocks that are too large");
}
my $at_limit = $server->get('/page.html', 'If-Block' => "v=1; fs=200000; h=$hashes");
is(field($at_limit, 'Content-Encoding'), 'crcsync', 'blocks of just the allowed size');
# The last block takes the remainder: 4999 + 39 bytes.
$server->is_full($server->get('/page.html', 'If-Block' => "v=1; fs=199999; h=$hashes"), $page, 'block-limit',
    'C34: a last block that is too large');

for (['two fields', $good, $good], ['a second field of nonsense', $good, 'x'], ['an empty second field', $good, ''],
    ['a second field after an unknown part', "$good; new", 'x=1'])
{
    my ($name, @values) = @$_;
    $server->is_full($server->get('/page.html', map { ('If-Block' => $_) } @values), $page, 'bad-if-block', "C34: $name");
}

is_body($server->get('/page.html')->{body}, $page, 'C34: the server goes on');
$server->children_live(@children);
done_testing;
