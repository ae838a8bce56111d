# Pages that change from one request to the next, as dynamic pages do: a clock, a list that grows at its top, a token, and
# much that stays.
package CRCSync::Pages;

use strict;
use warnings;

use Digest::SHA qw(sha1_hex);
use Fcntl qw(:flock O_RDWR O_CREAT);

# Page `serial` of about `bytes` bytes; the same for the same arguments.
sub page {
    my ($key, $serial, $bytes) = @_;
    my $news = join '', map { '<li>' . _words("$key news $_", 12) . "</li>\n" } reverse 1 .. $serial;
    my $page = "<!DOCTYPE html>\n<title>$key</title>\n<p>Page $serial, token " . sha1_hex("$key token $serial") . "</p>\n"
        . "<ul>\n$news</ul>\n";
    my $n = 0;
    $page .= '<p>' . _words("$key text " . $n++, 40) . "</p>\n" while length $page < $bytes;
    return "$page</html>\n";
}

# (serial, page): counts in a file of `dir`, under a lock, and leaves the page there as KEY.SERIAL.
sub next_page {
    my ($dir, $key, $bytes) = @_;
    sysopen my $counter, "$dir/$key.count", O_RDWR | O_CREAT or die "$dir/$key.count: $!\n";
    flock $counter, LOCK_EX;
    my $serial = 1 + (<$counter> // 0);
    my $page = page($key, $serial, $bytes);
    open my $out, '>:raw', "$dir/$key.$serial" or die "$dir/$key.$serial: $!\n";
    print $out $page;
    close $out;
    seek $counter, 0, 0;
    print $counter $serial;
    close $counter;
    return ($serial, $page);
}

my @syllables = qw(ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za bre cli dro fla gre);

sub _words {
    my ($seed, $count) = @_;
    my @random = map { unpack 'n*', pack 'H*', sha1_hex("$seed $_") } 0 .. $count / 10;
    return join ' ', map { join '', map { $syllables[$_ % @syllables] } $_, $_ >> 5, $_ >> 10 } @random[0 .. $count - 1];
}

1;
