# Protocol version 1 in plain Perl, written from the protocol's description and apart from the C++ code: what tests use to
# make If-Block fields and deltas by hand, and to read those that cross the line.
package CRCSync::Delta;

use strict;
use warnings;

use Compress::Zlib ();
use Digest::SHA qw(sha1);
use Exporter qw(import);
use MIME::Base64 qw(encode_base64 decode_base64);

our @EXPORT_OK = qw(crc64 if_block blocks block literal deflated strong make_delta sections apply_delta);

# CRC-64-ISO, reflected, initial value 0, no final xor.
no warnings 'portable';
my @table = map {
    my $value = $_;
    $value = $value & 1 ? ($value >> 1) ^ 0xD800000000000000 : $value >> 1 for 1 .. 8;
    $value;
} 0 .. 255;

sub crc64 {
    my ($bytes) = @_;
    my $crc = 0;
    $crc = $table[($crc ^ $_) & 255] ^ ($crc >> 8) for unpack 'C*', $bytes;
    return $crc;
}

# The base in N blocks.
sub blocks {
    my ($base, $count) = @_;
    my $size = int(length($base) / $count);
    return map { substr $base, $_ * $size, $_ == $count - 1 ? length($base) - $_ * $size : $size } 0 .. $count - 1;
}

# The value of If-Block.
sub if_block {
    my ($base, $count) = @_;
    my $hashes = join '', map { pack 'Q>', crc64($_) } blocks($base, $count);
    return 'v=1; fs=' . length($base) . '; h=' . encode_base64($hashes, '');
}

# (fs, N) of an If-Block value.
sub parse_if_block {
    my ($value) = @_;
    my %part = map { /^\s*(\w+)=(.*?)\s*$/ ? ($1, $2) : () } split /;/, $value;
    return ($part{fs}, length(decode_base64($part{h})) / 8);
}

# --- sections

sub block { return 'B' . chr $_[0] }
sub literal { return 'L' . pack('N', length $_[0]) . $_[0] }
sub deflated { return 'Z' . Compress::Zlib::compress($_[0]) }
sub strong { return 'S' . sha1($_[0]) }

# A delta of [n] for block n and 'text' for a literal, with the strong hash of what they make.
sub make_delta {
    my ($base, $count, @parts) = @_;
    my @blocks = blocks($base, $count);
    my $instance = join '', map { ref $_ ? $blocks[$_->[0]] : $_ } @parts;
    return (join('', map { ref $_ ? block($_->[0]) : literal($_) } @parts) . strong($instance), $instance);
}

# The sections of a delta: [B => n], [L => bytes], [Z => inflated bytes, bytes on the wire], [S => hash]. Dies if it is
# corrupt in form.
sub sections {
    my ($delta) = @_;
    my @sections;
    my $at = 0;
    my $take = sub {
        my ($count) = @_;
        die "delta ends inside a section at $at\n" if $at + $count > length $delta;
        my $bytes = substr $delta, $at, $count;
        $at += $count;
        return $bytes;
    };
    while ($at < length $delta) {
        my $id = $take->(1);
        if ($id eq 'B') {
            push @sections, [B => ord $take->(1)];
        }
        elsif ($id eq 'L') {
            push @sections, [L => $take->(unpack 'N', $take->(4))];
        }
        elsif ($id eq 'S') {
            push @sections, [S => $take->(20)];
        }
        elsif ($id eq 'Z') {
            my ($inflate, $status) = Compress::Zlib::inflateInit();
            my $rest = substr $delta, $at;
            my $before = length $rest;
            (my $out, $status) = $inflate->inflate($rest);
            die "zlib stream at $at does not end: $status\n" if $status != Compress::Zlib::Z_STREAM_END();
            push @sections, [Z => $out, $before - length $rest];
            $at += $before - length $rest;
        }
        else {
            die "no such section: $id at $at\n";
        }
    }
    return @sections;
}

# What a delta makes of the base; dies if it is corrupt.
sub apply_delta {
    my ($delta, $base, $count) = @_;
    my @blocks = length $base ? blocks($base, $count) : ();
    my ($instance, $hash) = ('', undef);
    for my $section (sections($delta)) {
        my ($id, $data) = @$section;
        if ($id eq 'B') {
            die "no block $data\n" if $data >= $count;
            $instance .= $blocks[$data];
        }
        elsif ($id eq 'S') {
            die "two strong hashes\n" if defined $hash;
            $hash = $data;
        }
        else {
            $instance .= $data;
        }
    }
    die "no strong hash\n" unless defined $hash;
    die "wrong strong hash\n" unless $hash eq sha1($instance);
    return $instance;
}

1;
