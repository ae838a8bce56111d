#!/usr/bin/perl
# Writes the fuzz targets' first inputs, from t/golden and by hand: seeds.pl FOLDER makes FOLDER/TARGET/NAME. The
# committed corpus began with these; build/fuzz.sh --merge keeps what reaches most.
use strict;
use warnings;

use Compress::Zlib qw(compress memGzip);
use Digest::SHA qw(sha1 sha1_hex);
use File::Basename qw(basename dirname);
use File::Path qw(make_path);

my $out = shift // die "usage: seeds.pl FOLDER\n";
my $golden = dirname(__FILE__) . '/../golden';

sub slurp {
    my ($file) = @_;
    open my $in, '<:raw', $file or die "$file: $!\n";
    local $/ = undef;
    return scalar <$in>;
}

sub seed {
    my ($target, $name, $content) = @_;
    make_path("$out/$target");
    open my $file, '>:raw', "$out/$target/$name" or die "$out/$target/$name: $!\n";
    print $file $content;
    close $file or die "$out/$target/$name: $!\n";
    return;
}

sub numbered {
    my ($target, $prefix, @contents) = @_;
    seed($target, sprintf('%02d', $_), $prefix . $contents[$_]) for 0 .. $#contents;
    return;
}

for my $case (glob "$golden/*/") {
    my $name = basename($case);
    for my $value (glob "${case}if_block*.txt") {
        seed('if_block_fuzz', "$name-" . basename($value, '.txt'), chr(30) . slurp($value) =~ s/\s+\z//r);
    }
    my $base = slurp("${case}base");
    next if length $base > 20_000;
    # Options, 40 blocks, pieces of 7 bytes and 250 at a time.
    seed('delta_reader_fuzz', $name, pack('C C C/a* n/a* a*', 0, 39, "\x07\xfa", $base, slurp("${case}delta.bin")));
}
my @parts = ('v=1; fs=64; h=AAAAAAAAAAE=', 'h=AAAAAAAAAAE;fs=64', 'fs=64; x=1; v=2; h=AAAAAAAAAAE=', 'fs=0; h=', 'fs=8;;h==',
    'v=1; fs=18446744073709551615; h=AAAAAAAAAAEAAAAAAAAAAg==', 'fs=64; fs=64; h=AAAAAAAAAAE=', '');
numbered('if_block_fuzz', "\x07", @parts);

# Sections that are put together and hashed: literals, streams, blocks, damage.
my $base = join '', map { "line $_ of the base\n" } 1 .. 20;
my $sections = "\x00\x03" . "\x01\x05hello" . "\x02\x46" . 'x' x 70 . "\x66\x30" . join('', map { chr } 1 .. 48) . "\x00\x00";
for my $options (8, 24, 25, 26, 28) {
    my $numbers = $options == 24 || $options == 8 ? '' : pack('n', 200);
    seed('delta_reader_fuzz', "sections-$options",
        pack('C C a* C/a* n/a* a*', $options, 9, $numbers, "\x01\x03", $base, $sections));
}
seed('delta_reader_fuzz', 'damaged', pack('C C C/a* n/a* a*', 24, 9, '', $base, "$sections\x04\x09"));
seed('delta_reader_fuzz', 'one-of-each', pack('C C C/a* n/a* a*', 0, 3, "\x01", $base,
        'B' . chr(2) . 'L' . pack('N/a*', 'abc') . 'Z' . compress('z' x 300)
        . 'S' . sha1(substr($base, 2 * int(length($base) / 4), int(length($base) / 4)) . 'abc' . 'z' x 300)));

# Flags, flushes, blocks, two lists of cuts, steps of the base, steps of the page.
my @pages = (
    "\x03\x05\x00\x14\x00\x14",                                          # the base's whole blocks
    "\x0eabc" . "\x05\x00\x1f" . "\x0exyz",                              # the same between literals
    "\x02\x07\x9c\x40" . "\x02\x08\x9c\x40" . "\x05\x01\x02",            # noise, then blocks
    "\x01\xff\xff\x01\xff\xff\x04\x00\x00\x10\x00",                      # runs, then a part of the base
    "\x02\x01\x9c\x3f\x02\x02\x9c\x3f" . "\x03\x9c\x00\x20\x00" x 3,     # noise that repeats itself
    "\x04\x00\x00\xff\xff\x06\x00\x50\x0d\x12\x34\x06\x11\x11",          # the base with bytes changed
    '',
);
my $step = "\x03" . "\x02\x05\x30\x39" . "\x01\x03\xe8" . "\x03\x10\x00\x20\x00";
for my $i (0 .. $#pages) {
    for my $flags (0x16, 0x06, 0x31) {
        my $buffer = $flags & 16 ? '' : pack('n', 1000);
        seed('round_trip_fuzz', sprintf('%02d-%02x', $i, $flags),
            chr($flags) . chr($i * 37) . chr(39) . $buffer . pack('C/a* C/a*', "\x11\xf0", "\x09") . $step
            . ($flags & 32 ? "\x00\x01" x 20 : '') . $pages[$i]);
    }
}

my @values = ('Cookie, Accept-Encoding', '*', 'If-Block', 'a, "b, c" ,,d', '"a', '"a\\"b", c', 'gzip, deflate, br;q=0.5, *;q=0',
    'identity;q=0, x-gzip ; q=1', '*;q=0, *', '"x"', 'W/"x"', 'W/"x-crcsync-gzip"', '"a-crcsync-identity", "b" , W/"c,d-crcsync-x-gzip"',
    '"x"-crcsync-deflate', 'x-crcsync-gzip-crcsync-gzip', '"a\\", "b-crcsync-gzip"', 'Wed, 21 Oct 2015 07:28:00 GMT', '-crcsync-gzip',
    'text/event-stream; charset=utf-8', '');
numbered('fields_fuzz', chr($_), @values) for 0;
seed('fields_fuzz', "with-$_", chr($_ * 5 % 16) . $values[$_]) for 0 .. $#values;

my $hash = sha1_hex('x');
numbered('base_record_fuzz', '', "1 84240 $hash", "1 7 $hash $hash", "1 0 $hash", "1 007 $hash ", "2 7 $hash", '1 7 abc', 'deadbeef',
    'accept, cookie', 'Cookie, *, If-Block, x', join(', ', map { "name-$_" } 1 .. 17), 'Accept-Encoding', '"a", b', '');

seed('inflater_fuzz', 'gzip', "\x01\x02\x05\xff" . memGzip('page ' x 100));
seed('inflater_fuzz', 'gzip-twice', "\x01\x00" . memGzip('page') . memGzip('more'));
seed('inflater_fuzz', 'zlib', "\x00\x01\x03" . compress('page ' x 100) . 'behind');
seed('inflater_fuzz', 'zlib-as-deflate', "\x02\x01\x01" . compress('page ' x 100));
for my $how (0 .. 2) {
    for my $options (8, 9, 10, 0x2d, 0x3a) {
        my $text = $how % 2 ? 'abcdefgh' x 40 : join '', map { chr } 0 .. 255;
        seed('inflater_fuzz', "made-$how-$options", chr($options) . ($options & 4 ? pack('n', 300) : '') . pack('C/a*', "\x21")
                . chr(33 + $how) . ($options & 16 ? "\x00\x09\x10" : '') . ($options & 32 ? chr(100) : '') . $text);
    }
}
