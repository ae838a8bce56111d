# Reads the error logs of all httpds of a test. A line at warn or above, a child that died, a sanitizer's report, or
# anything that httpd did not write itself fails the test, unless the test has announced it.
#
#   expect_log(qr/.../);     such a line must come, at least once
#   allow_log(qr/.../);      such a line may come
package CRCSync::ErrorLog;

use strict;
use warnings;

use Exporter qw(import);

use CRCSync::Work;

our @EXPORT_OK = qw(expect_log allow_log);

my @watched;
my (@expected, @allowed);

# httpd's own line: [time] [module:level] ...
my $own = qr/^\[[^\]]+\] \[[\w.-]+:(\w+)\]/;
my $quiet = qr/^(?:debug|info|notice|trace\d)$/;
# Which OpenSSL the machine has, and which the package of httpd was built with: that tells nothing about us.
my $machine = qr/ AH01882: Init: this version of mod_ssl was compiled against a newer library /;
my $death = qr/exit signal|Sanitizer|runtime error:|terminate called|caught signal/;

# From now on; what the file holds already is another test's.
sub watch {
    my ($file, $name, $from) = @_;
    push @watched, {file => $file, name => $name, from => $from // 0};
    return;
}

sub expect_log { push @expected, map { {pattern => $_, count => 0} } @_; return }
sub allow_log { push @allowed, @_; return }

# All watched lines that match a pattern.
sub lines {
    my ($pattern) = @_;
    return grep { $_ =~ $pattern } map { _new_lines($_) } @watched;
}

sub _new_lines {
    my ($log) = @_;
    return unless -e $log->{file};
    return split /\n/, substr CRCSync::Work::slurp($log->{file}), $log->{from};
}

# Complaints, as text; none if all is well.
sub complaints {
    my @complaints;
    for my $log (@watched) {
        for my $line (_new_lines($log)) {
            my @matching = grep { $line =~ $_->{pattern} } @expected;
            $_->{count}++ for @matching;
            next if @matching || grep { $line =~ $_ } @allowed;
            next if $line =~ /^\s*$/ || $line =~ $machine;
            next if $line =~ $own && $1 =~ $quiet && $line !~ $death;
            push @complaints, "$log->{name}: $line";
        }
    }
    push @complaints, map { "no such line in any error log: $_->{pattern}" } grep { !$_->{count} } @expected;
    return @complaints;
}

1;
