# Entity tags, conditionals and Vary: C01 to C06.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my @type = ('Content-Type' => 'text/html');

sub origin_got {
    my ($field) = @_;
    return map { field($_, $field) } $origin->requests;
}

my $number = 0;
for my $tag ('"x"', 'W/"x"', '"long-tag-with-gzip"', '""', 'unquoted', '"a,b"', '"-crcsync-"', '"x-crcsync-br"') {
    my $target = '/tag' . ++$number;
    my $page = text(20_000, $number);
    for my $turn (1 .. 3) {
        substr $page, 0, 5, "turn$turn";
        $origin->put($target, body => $page, fields => [@type, ETag => $tag, Vary => 'Cookie'], conditional => 1);
        my ($response, @exchanges) = $pair->same_ok(GET => $target, "C03: $tag, fetch $turn");
        my $answer = $exchanges[0]{response};
        is_deeply([members($answer, 'Vary')], ['Cookie', 'If-Block'], "C04: $tag, fetch $turn: one merged Vary on the line");
        next if $turn == 1;
        is(field($answer, 'Content-Encoding'), 'crcsync', "$tag, fetch $turn: a delta");
        my $suffixed = $tag =~ /"$/ ? $tag =~ s/"$/-crcsync-identity"/r : "$tag-crcsync-identity";
        is(field($answer, 'ETag'), $suffixed, "C03: $tag, fetch $turn: the suffix on the line");
    }
    $origin->requests;

    # C01: the tag that the reader got comes back, and reaches the origin as its own.
    next if $tag eq '""' || $tag eq 'unquoted';
    my ($response, @exchanges) = $pair->same_ok(GET => $target, "C01: $tag, If-None-Match", fields => ['If-None-Match' => $tag]);
    is($response->{status}, 304, "C01: $tag: 304 to the reader");
    is_deeply([members($exchanges[0]{response}, 'Vary')], ['Cookie', 'If-Block'], "C04: $tag: the 304 has the same Vary on the line");
    is_deeply([origin_got('If-None-Match')], [$tag, $tag], "C02: $tag: the origin sees its own tag");
    ($response) = $pair->same_ok(
        GET => $target, "$tag in a list",
        fields => ['If-None-Match' => "\"other\", $tag, W/\"third\""]
    );
    is($response->{status}, 304, "$tag in a list: 304");
    # C05: no conditional of our own makes a 304 for who did not ask.
    $pair->body_ok($target, $page, "C05: $tag: unconditional after a 304");
    is_deeply([grep { defined && /crcsync-identity/ } origin_got('If-None-Match')], [], "C02: $tag: no suffix of ours");
}

# A conditional that does not match: a delta of the new page.
my $page = text(30_000, 99);
$origin->put('/changing', body => $page, fields => [@type, ETag => '"1"'], conditional => 1);
$pair->body_ok('/changing', $page, 'before the change');
substr $page, 100, 4, 'new!';
$origin->put('/changing', body => $page, fields => [@type, ETag => '"2"'], conditional => 1);
my ($response, @exchanges) = $pair->same_ok(GET => '/changing', 'a tag that is old', fields => ['If-None-Match' => '"1"']);
is($response->{status}, 200, 'the changed page');
is(field($response, 'ETag'), '"2"', 'with its tag');
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'as a delta');

# C02: If-Match and If-Range.
$origin->requests;
$pair->same_ok(GET => '/changing', "C02: $_", fields => [$_ => '"2"']) for qw(If-Match If-Unmodified-Since);
$pair->same_ok(GET => '/changing', 'If-Range', fields => ['If-Range' => '"2"', Range => 'bytes=0-9']);
is_deeply([grep { defined } origin_got('If-Match')], ['"2"', '"2"'], 'If-Match as it was');

# The reader's own conditional ends in our suffix, because the origin's tag does.
my $odd = '"odd-crcsync-identity"';
$page = text(20_000, 7);
$origin->put('/odd', body => $page, fields => [@type, ETag => $odd], conditional => 1);
$pair->same_ok(GET => '/odd', "a tag that ends like ours, fetch $_") for 1 .. 3;
$origin->requests;
(undef, @exchanges) = $pair->same_ok(GET => '/odd', 'and its conditional', fields => ['If-None-Match' => $odd]);
is(field($exchanges[0]{request}, 'If-Block'), undef, 'goes without If-Block');
is_deeply([origin_got('If-None-Match')], [$odd, $odd], 'C02: a tag of its own that ends like ours goes to the origin unchanged');

# C04: Vary of all kinds survives; no Vary stays none.
$number = 0;
for my $vary ('Accept-Encoding', 'Cookie, Accept-Language', '*', 'If-Block', undef) {
    my $target = '/vary' . ++$number;
    $origin->put($target, body => text(20_000, $number), fields => [@type, defined $vary ? (Vary => $vary) : ()]);
    my $name = 'C04: Vary: ' . ($vary // 'none');
    for my $turn (1 .. 2) {
        $pair->same_ok(GET => $target, "$name, fetch $turn", without => ($vary // '') eq 'If-Block' ? ['Vary'] : []);
    }
}

# 200, 304, 206 and HEAD: one merged field between the modules, the origin's own towards the reader.
my @tagged = (@type, ETag => '"m"', Vary => 'Cookie, Accept-Language');
my %answers = (
    'a 200' => [GET  => [], [body => $page, fields => \@tagged]],
    'a 304' => [GET  => ['If-None-Match' => '"m"'], [status => 304, fields => \@tagged]],
    'a 206' => [GET  => [Range => 'bytes=0-9'], [status => 206, body => substr($page, 0, 10),
                fields => [@tagged, 'Content-Range' => 'bytes 0-9/20000']]],
    'HEAD'  => [HEAD => [], [body => $page, fields => \@tagged]],
);
for my $how ('a 200', sort keys %answers) {
    my ($method, $ask, $answer) = @{$answers{$how}};
    $origin->put('/merged', @$answer);
    my ($got, @crossed) = $pair->same_ok($method => '/merged', "C04: $how", fields => $ask);
    is_deeply([sort(members($crossed[0]{response}, 'Vary'))], ['Accept-Language', 'Cookie', 'If-Block'],
        "C04: $how: merged on the line");
    is_deeply([members($got, 'Vary')], ['Cookie', 'Accept-Language'], "C04: $how: the origin's towards the reader");
}

# C06: what the reader or a hop refuses.
$page = text(20_000, 8);
$origin->put('/refuse', body => $page, fields => [@type]);
$pair->body_ok('/refuse', $page, 'a base');
for my $accept ('identity;q=0', 'gzip, *;q=0', 'gzip, identity; q=0.000') {
    (undef, @exchanges) = $pair->body_ok('/refuse', $page, "Accept-Encoding: $accept", 'Accept-Encoding' => $accept);
    is(field($exchanges[0]{request}, 'If-Block'), undef, "C06: $accept: no If-Block");
}
(undef, @exchanges) = $pair->body_ok('/refuse', $page, 'crcsync;q=0', 'Accept-Encoding' => 'crcsync;q=0, gzip');
is(field($exchanges[0]{response}, 'Content-Encoding'), undef, 'C06: crcsync;q=0: no delta');

done_testing;

sub members {
    my ($message, $field) = @_;
    return split /\s*,\s*/, field($message, $field) // '';
}
