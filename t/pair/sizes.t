# Bodies of all sizes: around each buffer, binary, 30 MB (C16).
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(
    to     => $origin->port,
    client => "CacheMaxFileSize 100000000\nCRCSyncClientMaxBase 100000000\n",
);

# k x buffer - 1, + 0, + 1: each twice, so that the second is a delta, with one byte changed in the middle.
for my $buffer (4_096, 8_000, 8_192, 65_464, 65_536) {
    for my $size (map { ($buffer * $_ - 1, $buffer * $_, $buffer * $_ + 1) } 1, 2, 5) {
        my $body = random_bytes($size, $size);
        for my $chunked (0, 1) {
            my $target = "/$size-$chunked";
            $origin->put($target, body => $body, chunked => $chunked, fields => ['Content-Type' => 'image/x-test']);
            my ($first) = $pair->get($target);
            my $changed = $body;
            substr $changed, $size / 2, 1, 'X';
            $origin->put($target, body => $changed, chunked => $chunked, fields => ['Content-Type' => 'image/x-test']);
            my ($second, @exchanges) = $pair->get($target);
            my $right = $first->{complete} && $first->{body} eq $body && $second->{complete} && $second->{body} eq $changed;
            ok($right, "C16: $size bytes, " . ($chunked ? 'chunked' : 'with a length'));
            is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', "$size bytes: the second is a delta");
            cmp_ok(length $exchanges[0]{response}{raw}, '<', $size / 8 + 1_500, "$size bytes: bytes on the line");
        }
    }
}

# 30 MB: three times, with changes at both ends and in the middle.
my $large = random_bytes(1_000_000, 77);
$large = join '', map { "part $_ " . substr($large, $_ * 1000) . substr $large, 0, $_ * 1000 } 1 .. 30;
$origin->put('/large', body => $large, fields => ['Content-Type' => 'application/octet-stream']);
$pair->body_ok('/large', $large, '30 MB');
my (undef, @exchanges) = $pair->body_ok('/large', $large, '30 MB, unchanged');
cmp_ok(length $exchanges[0]{response}{body}, '<', 1_000, '30 MB, unchanged: bytes of delta');
cmp_ok(length $exchanges[0]{response}{raw}, '<', 2_000, '30 MB, unchanged: bytes on the line');
$large = 'new start ' . substr($large, 0, 15_000_000) . ' new middle ' . substr($large, 15_000_000) . ' new end';
$origin->put('/large', body => $large, fields => ['Content-Type' => 'application/octet-stream']);
(undef, @exchanges) = $pair->body_ok('/large', $large, '30 MB, changed');
cmp_ok(length $exchanges[0]{response}{raw}, '<', 1_000_000, '30 MB, changed: bytes on the line');

done_testing;
