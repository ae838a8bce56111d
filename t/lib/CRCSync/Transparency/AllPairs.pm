# Combinations of factors in which every pair of values of any two factors occurs, in few rows.
#
#   my @rows = all_pairs([method => qw(GET HEAD)], [coding => 'gzip', ''], ...);   # ({method => 'GET', ...}, ...)
#   my @missing = missing_pairs(\@rows, @factors);                                 # none
#
# The way is greedy: a row begins with a pair that no row has yet, and each further factor takes the value that brings
# most new pairs. The same factors give the same rows, on every machine. A value that stands twice counts as two: it
# comes more often.
package CRCSync::Transparency::AllPairs;

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(all_pairs missing_pairs);

sub all_pairs {
    my @factors = @_;
    my $random = _random(7);
    my @sizes = map { $#$_ } @factors;
    my (%open, @order);
    for my $i (0 .. $#factors) {
        for my $j ($i + 1 .. $#factors) {
            for my $a (0 .. $sizes[$i] - 1) {
                push @order, map { [$i, $a, $j, $_] } 0 .. $sizes[$j] - 1;
            }
        }
    }
    $open{"@$_"} = 1 for @order;
    my @rows;
    for my $pair (@order) {
        next unless $open{"@$pair"};
        my ($i, $a, $j, $b) = @$pair;
        my %row = ($i => $a, $j => $b);
        my @rest = grep { $_ != $i && $_ != $j } 0 .. $#factors;
        @rest = map { splice @rest, $random->(scalar @rest), 1 } 1 .. @rest;
        for my $factor (@rest) {
            my ($best, $most) = (0, -1);
            my $first = $random->($sizes[$factor]);
            for my $step (0 .. $sizes[$factor] - 1) {
                my $value = ($first + $step) % $sizes[$factor];
                my $new = grep { $open{_key($factor, $value, $_, $row{$_})} } keys %row;
                ($best, $most) = ($value, $new) if $new > $most;
            }
            $row{$factor} = $best;
        }
        for my $x (keys %row) {
            delete $open{_key($x, $row{$x}, $_, $row{$_})} for grep { $_ > $x } keys %row;
        }
        push @rows, {map { $factors[$_][0] => $factors[$_][1 + $row{$_}] } keys %row};
    }
    return @rows;
}

# Pairs that no row has, as text.
sub missing_pairs {
    my ($rows, @factors) = @_;
    my @missing;
    for my $i (0 .. $#factors) {
        for my $j ($i + 1 .. $#factors) {
            my ($one, @one) = @{$factors[$i]};
            my ($other, @other) = @{$factors[$j]};
            my %there = map { ("$_->{$one}\0$_->{$other}" => 1) } @$rows;
            for my $value (@one) {
                push @missing, map { "$one=$value $other=$_" } grep { !$there{"$value\0$_"} } @other;
            }
        }
    }
    return @missing;
}

sub _key {
    my ($i, $a, $j, $b) = @_;
    return $i < $j ? "$i $a $j $b" : "$j $b $i $a";
}

# Numbers below the argument, always the same ones.
sub _random {
    my ($state) = @_;
    return sub {
        $state = ($state * 1_103_515_245 + 12_345) & 0x7fffffff;
        return ($state >> 8) % $_[0];
    };
}

1;
