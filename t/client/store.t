# What becomes a base and what does not, and a store that fails (C25, C26, C30, C31, C33, C38).
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(if_block make_delta);
use CRCSync::Test;
use File::Find ();
use File::Path qw(remove_tree);

my $n = CRCSync::ClientAlone::BLOCKS;
my @all = map { [$_] } 0 .. $n - 1;
my @html = ('Content-Type' => 'text/html');
my $base = text(20_000, 1);

sub files {
    my ($alone) = @_;
    my @files;
    File::Find::find({no_chdir => 1, wanted => sub { push @files, $_ if -f }}, $alone->client->dir . '/cache');
    @files = sort @files;
    return @files;
}

sub base_is {
    my ($alone, $target, $want, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    $alone->delta($target, (make_delta($want, $n, @all))[0]) if defined $want;
    # A base that was of no use may be left out for a while: it is there all the same.
    for (1 .. 3) {
        $alone->requests;
        $alone->get($target);
        last if $alone->note('reason') ne 'not-paying';
    }
    return is(field(($alone->requests)[0], 'If-Block'), defined $want ? if_block($want, $n) : undef, "$name: base");
}

# What the origin says from now on, to If-Block too.
sub answer {
    my ($alone, $target, %answer) = @_;
    $alone->full($target, %answer);
    $alone->with_if_block($target, %answer);
    return;
}

# --- what may not be kept
my $alone = CRCSync::ClientAlone->start(
    conf => "CRCSyncClientMinBase 2000\nCRCSyncClientMaxBase 100000\nCacheMaxFileSize 50000\n"
);
my @cases = (
    ['private'          => private        => {fields => ['Cache-Control' => 'max-age=9, private']}],
    ['private field'    => private        => {fields => ['Cache-Control' => 'private="X-Own"']}],
    ['PRIVATE'          => private        => {fields => ['Cache-Control' => 'PRIVATE']}],
    ['no-store'         => 'no-store'     => {fields => ['Cache-Control' => 'no-store']}],
    ['two lines'        => 'no-store'     => {fields => ['Cache-Control' => 'max-age=9', 'Cache-Control' => 'no-store']}],
    ['Set-Cookie'       => private        => {fields => ['Set-Cookie' => 'a=b']}],
    ['Set-Cookie2'      => private        => {fields => ['Set-Cookie2' => 'a=b']}],
    ['event-stream'     => 'event-stream' => {fields => ['Content-Type' => 'text/event-stream; charset=utf-8']}],
    ['Content-Range'    => range          => {fields => ['Content-Range' => 'bytes 0-9/100']}],
    ['203'              => status         => {status => 203}],
    ['404'              => status         => {status => 404}],
    ['500'              => status         => {status => 500}],
    ['too small'        => 'too-small'    => {body => substr $base, 0, 1_999}],
    ['too large'        => 'too-large'    => {body => $base x 6}],
    ['small, chunked'   => 'too-small'    => {chunked => [substr $base, 0, 1_999]}],
    ['large, chunked'   => 'too-large'    => {chunked => [$base, $base x 5]}],
    ['beyond the store' => 'store-limit'  => {body => $base x 3}],
    ['beyond, chunked'  => 'store-limit'  => {chunked => [$base, $base x 2]}],
    ['asked no-store'   => 'no-store'     => {}, 'Cache-Control' => 'max-age=0, no-store'],
    ['Authorization'    => private        => {}, Authorization => 'Basic dTpw'],
);
my $number = 0;
for my $case (@cases) {
    my ($name, $reason, $answer, @ask) = @$case;
    $name = ($reason =~ /^(?:private|no-store)$/ ? 'C26: ' : $reason eq 'range' ? 'C11: ' : 'C25: ') . $name;
    my $target = '/not-kept' . ++$number;
    my @fields = @{$answer->{fields} // []};
    my %answer = (body => $base, %$answer, fields => [(grep { $_ eq 'Content-Type' } @fields) ? () : @html, @fields]);
    $alone->full($target, %answer);
    $alone->get($target, @ask);
    is($alone->note('reason'), $reason, "$name: the reason");
    $alone->full($target, body => $base, fields => [@html]);
    base_is($alone, $target, undef, $name);
    base_is($alone, $target, $base, "$name, then a page like others");
    # A base that is there stays as it was.
    answer($alone, $target, %answer);
    $alone->get($target, @ask);
    $alone->full($target, body => $base, fields => [@html]);
    base_is($alone, $target, $base, "$name, with a base before");
}
# Authorization: no base is offered either.
$alone->requests;
$alone->get('/not-kept1', Authorization => 'Basic dTpw');
is(field(($alone->requests)[0], 'If-Block'), undef, 'C26: Authorization: no If-Block');
# What may be kept, though mod_cache would not.
for my $field (['Cache-Control' => 'no-cache'], ['Cache-Control' => 'max-age=0, must-revalidate'], [Pragma => 'no-cache'],
    [Expires => '0'], [Vary => '*'], ['Cache-Control' => 'x-private, y="private"'])
{
    my $target = '/kept' . ++$number;
    $alone->full($target, body => $base, fields => [@html, @$field]);
    $alone->get($target);
    base_is($alone, $target, $base, "@$field");
}
# Nothing of the response but its bytes is kept (C31).
$alone->full('/fields', body => $base, fields => [@html, 'X-Secret' => 'secret', Connection => 'X-Hop', 'X-Hop' => 'hop']);
$alone->get('/fields', Cookie => 'secret=1');
base_is($alone, '/fields', $base, 'a page with fields');
unlike(join('', map { slurp($_) } files($alone)), qr/secret|x-hop/i, 'C31: fields are not kept');

# --- the newest verified instance is the base; the same one is not written again
$alone = CRCSync::ClientAlone->start;
$alone->base_ok('/page', $base);
my %inode = map { $_ => (stat $_)[1] } files($alone);
my ($same) = make_delta($base, $n, @all);
$alone->delta('/page', $same);
$alone->body_ok('/page', $base, 'an unchanged page');
is_deeply({map { $_ => (stat $_)[1] } files($alone)}, \%inode, 'an unchanged page is not written again');
my ($delta, $new) = make_delta($base, $n, 'new', @all);
$alone->delta('/page', $delta);
$alone->body_ok('/page', $new, 'a changed page');
base_is($alone, '/page', $new, 'C25: a changed page');

# --- damaged files
my %damage = (
    'removed'            => sub { undef },
    'empty'              => sub { '' },
    'short'              => sub { substr $_[0], 0, length($_[0]) - 1 },
    'long'               => sub { "$_[0]x" },
    'changed at its end' => sub { substr($_[0], 0, length($_[0]) - 4) . 'yyyy' },
    'changed'            => sub { my $text = $_[0]; substr($text, length($text) / 2, 1) ^= "\x10"; $text },
    'noise'              => sub { random_bytes(length $_[0], 9) },
    'zeros'              => sub { "\0" x length $_[0] },
    # The length of the key in mod_cache_disk's head: it would be allocated as it stands.
    'a huge length'      => sub { my $text = $_[0]; substr($text, 8, 8) = pack 'Q<', 1 << 45; $text },
);
for my $how (sort keys %damage) {
    for my $kind ('header', 'data') {
        my $name = "C38: $kind file $how";
        $alone = CRCSync::ClientAlone->start;
        $alone->base_ok('/page', $base);
        my ($file) = grep { /\.$kind$/ } files($alone);
        ok($file, "$name: there is one");
        # Not by rename: mod_cache_disk knows a body by its inode.
        my $content = $damage{$how}->(slurp($file));
        if (defined $content) {
            open my $out, '+<:raw', $file or die;
            truncate $out, length $content;
            print $out $content;
            close $out;
        }
        else {
            unlink $file;
        }
        # A delta against what is left would be refused, and the page fetched again.
        my ($blind) = make_delta($base, $n, @all);
        $alone->delta('/page', $blind);
        $alone->body_ok('/page', $base, $name);
        my @requests = $alone->requests;
        is(scalar @requests, 1, "$name: asked once");
        # What stands last in a header file are fields of the request, and there are none: that fault is harmless.
        if ($name !~ /^C38: header file (?:short|long|changed at its end)$/) {
            is(field($requests[0], 'If-Block'), undef, "$name: no base was offered");
            like($alone->note('reason'), qr/^(?:no-base|store-error)$/, "$name: the reason");
        }
        $alone->body_ok('/page', $base, "$name: again");
        is($alone->note('result'), 'delta', "$name: the base is a new one");
        $alone->client->stop;
    }
}
expect_log(qr/the base is damaged/);
allow_log(qr/cache_disk:|gives no instance/);

# --- a place that cannot be written, is gone, comes back
$alone = CRCSync::ClientAlone->start;
my $cache = $alone->client->dir . '/cache';
$alone->base_ok('/page', $base);
chmod 0500, $cache;
$alone->delta('/page', $delta);
$alone->body_ok('/page', $new, 'a delta that cannot be kept');
is($alone->note('result'), 'delta', 'a delta that cannot be kept: used all the same');
is($alone->note('reason'), 'store-error', 'a delta that cannot be kept: the reason');
$alone->body_ok('/page', $new, 'against the old base, again');
$alone->full('/other', body => $base, fields => [@html]);
$alone->body_ok('/other', $base, 'a page that cannot be kept');
is($alone->note('reason'), 'store-error', 'C30: a page that cannot be kept: the reason');
chmod 0700, $cache;

# A place where files can be written but not put in their directory: mod_cache_disk says that all went well.
my ($file) = files($alone);
my ($directory) = $file =~ m{^(\Q$cache\E/[^/]+)};
remove_tree($directory);
spew($directory, '');
$alone->full('/page', body => $new, fields => [@html]);
$alone->body_ok('/page', $new, 'a page that cannot be put in place');
is($alone->note('reason'), 'store-error', 'C30: a page that cannot be put in place: the reason');
unlink $directory;
$alone->body_ok('/page', $new, 'the place can be written again');
base_is($alone, '/page', $new, 'the place can be written again');
remove_tree($cache);
$alone->full('/page', body => $base, fields => [@html]);
for my $turn (1, 2) {
    $alone->requests;
    $alone->body_ok('/page', $base, "C33: the place is gone, turn $turn");
    is(field(($alone->requests)[0], 'If-Block'), undef, "C33: the place is gone, turn $turn: no base");
}
mkdir $cache;
$alone->body_ok('/page', $base, 'the place is back');
base_is($alone, '/page', $base, 'the place is back');
expect_log(qr{/other: the store cannot keep a base of 20000 bytes|/page: the store cannot keep a base});

done_testing;
