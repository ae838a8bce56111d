# Mutations, or mutants: small faults that are put into the code to see whether the tests notice. One file of t/mutations for each
# case of docs/cases.md, whose number is the file's name. A mutation is a paragraph:
#
#   What the fault is, in one line or more.
#   test: server/validators.t
#   test: unit/fields_test
#   file: mod_crccache_server/request.cpp
#   -the text as it stands there, whole lines or parts of a line
#   +the text that takes its place; none to take it out
#
# Where two guards stand behind each other both are taken away: `file:` and its text may come several times. Each test
# named must fail with the mutation in place. The text must stand in the file exactly once: else the mutation is stale, as
# after a change of the code that forgot it.
package CRCSync::Mutants;

use strict;
use warnings;

# All mutations under the source tree `top`, each {case, what, tests, changes => [{file, old, new}...]}; dies on what is no
# mutation.
sub read_all {
    my ($top) = @_;
    return map { read_file($_) } sort glob "$top/t/mutations/*.txt";
}

sub read_file {
    my ($path) = @_;
    my ($case) = $path =~ m{/(C\d\d)\.txt$} or die "$path: its name is no case\n";
    open my $in, '<', $path or die "$path: $!\n";
    local $/ = '';
    my @mutations;
    while (my $paragraph = <$in>) {
        my $mutation = {case => $case, what => '', tests => [], changes => []};
        for my $line (split /\n/, $paragraph) {
            my $change = $mutation->{changes}[-1];
            if    ($line =~ /^#/)             { next }
            elsif ($line =~ /^test: (\S+)$/)  { push @{$mutation->{tests}}, $1 }
            elsif ($line =~ /^file: (\S+)$/)  { push @{$mutation->{changes}}, {file => $1, old => [], new => []} }
            elsif ($change && $line =~ /^-(.*)/)  { push @{$change->{old}}, $1 }
            elsif ($change && $line =~ /^\+(.*)/) { push @{$change->{new}}, $1 }
            elsif (!$change && !@{$mutation->{tests}}) { $mutation->{what} .= ($mutation->{what} ? ' ' : '') . $line }
            else                              { die "$path: what is that? $line\n" }
        }
        my @changes = @{$mutation->{changes}};
        next unless @changes || length $mutation->{what};
        my $whole = @changes && @{$mutation->{tests}} && $mutation->{what} && !grep { !@{$_->{old}} } @changes;
        die "$path: not whole:\n$paragraph" unless $whole;
        for my $change (@changes) {
            $change->{$_} = join "\n", @{$change->{$_}} for qw(old new);
        }
        push @mutations, $mutation;
    }
    return @mutations;
}

# The files that a mutation changes, as they are then: (path => text...). `read` gives the text of a file. Dies where the
# mutation is stale.
sub apply {
    my ($mutation, $read) = @_;
    my %texts;
    for my $change (@{$mutation->{changes}}) {
        my $text = \($texts{$change->{file}} //= $read->($change->{file}));
        my $count = () = $$text =~ /\Q$change->{old}\E/g;
        die "stale: $change->{file} has its text $count times\n" if $count != 1;
        substr $$text, index($$text, $change->{old}), length $change->{old}, $change->{new};
    }
    return %texts;
}

1;
