<?php
/**
 * Asks verdictd, bot detection that you host yourself, whether a visitor is a person or a program, and acts on the answer. One file, PHP 8.1 or newer,
 * no dependencies and no extensions but OpenSSL where verdictd is asked by https. Your verdictd server gives it out in its own version under
 * /clients/verdictd.php, and explains it under /docs/any-language.
 *
 *     require 'verdictd.php';
 *     $visit = Verdictd\protect(['client' => ['baseUrl' => 'http://127.0.0.1:8080', 'privateKey' => getenv('PRIVATE_KEY')]]);
 *
 * `protect` is for plain PHP, WordPress and every front controller; `Guard` for frameworks; `Middleware` is PSR-15, where its interfaces are installed;
 * `Client` asks alone. Without an answer in 150 ms the visitor is let in: a broken or missing server never stops your site.
 */

declare(strict_types=1);

namespace Verdictd;

const VERSION = "0.0.0";

/** A mistaken option: shows when the program starts. */
final class OptionError extends \InvalidArgumentException
{
}

/** No answer in time. */
final class TimeoutError extends \RuntimeException
{
}

// What rules see of a path

/** The path that rules see for a request target, or null for one that is no path. Linear in the target's length. */
function rulePath(string $target): ?string
{
    $path = strtr(preg_split('/[?#]/', $target, 2)[0], '\\', '/');
    if ($path === '' || $path[0] !== '/') {
        if (!preg_match('~^[A-Za-z][A-Za-z0-9+.-]*://[^/]*~', $path, $authority)) {
            return null;
        }
        $path = substr($path, strlen($authority[0])) ?: '/';
    }
    // Control characters, those beyond ASCII as well, stay encoded; so does what is no UTF-8.
    $path = preg_replace_callback('/[\x00-\x1f\x7f]|\xc2[\x80-\x9f]/', static fn($each) => rawurlencode($each[0]), $path);
    if (!preg_match('//u', $path)) {
        $path = text($path);
    }
    $segments = explode('/', decoded($path));
    $kept = [];
    foreach ($segments as $segment) {
        if ($segment === '..') {
            array_pop($kept);
        } elseif ($segment !== '.' && $segment !== '') {
            $kept[] = $segment;
        }
    }
    $isFolder = $kept !== [] && in_array(end($segments), ['', '.', '..'], true);
    $path = '/' . implode('/', $kept) . ($isFolder ? '/' : '');
    if (strlen($path) > 512 && utf16Length($path) > 512) {
        $path = preg_replace('/%[0-9A-F]?$/', '', utf16Cut($path, 512));
        $path = preg_replace('~/\.{1,2}$~', '/', $path);
    }
    return $path;
}

/**
 * Decodes octets that form valid UTF-8; delimiters and control characters stay encoded, in capitals. One pass from the left, on a stack: what a decoded
 * character completes (`%6%33` is `%63`) is decoded as well.
 */
function decoded(string $path): string
{
    if (!str_contains($path, '%')) {
        return $path;
    }
    $stack = '';
    $count = strlen($path);
    for ($at = 0; $at < $count; $at++) {
        $stack .= $path[$at];
        while (($length = strlen($stack)) > 2 && $stack[$length - 3] === '%') {
            $octet = octetBefore($stack, $length);
            if ($octet < 0) {
                break;
            }
            if ($octet >= 0x80) {
                $stack = takeOctet($stack, $octet);
                break;
            }
            if ($octet < 0x20 || $octet === 0x7f || str_contains('/\\%?#;', chr($octet))) {
                $stack[$length - 2] = strtoupper($stack[$length - 2]);
                $stack[$length - 1] = strtoupper($stack[$length - 1]);
                break;
            }
            $stack = substr($stack, 0, -3) . chr($octet);
        }
    }
    return $stack;
}

/** The octet that three characters before `$end` encode, or -1. */
function octetBefore(string $stack, int $end): int
{
    $text = $end < 3 ? '' : substr($stack, $end - 3, 3);
    return $text !== '' && $text[0] === '%' && isHexPair($text[1] . $text[2]) ? (int) hexdec(substr($text, 1)) : -1;
}

function isHexPair(string $text): bool
{
    return strspn($text, '0123456789abcdefABCDEF') === 2;
}

/** Decodes the last octet with those before it if they form a character. */
function takeOctet(string $stack, int $octet): string
{
    $end = strlen($stack);
    $stack = substr($stack, 0, -2) . strtoupper(substr($stack, -2));
    $octets = chr($octet);
    while ($octet < 0xc0 && strlen($octets) < 4) {
        $end -= 3;
        $octet = octetBefore($stack, $end);
        if ($octet < 0x80) {
            return $stack;
        }
        $octets = chr($octet) . $octets;
    }
    return preg_match('/^[^\x00-\x9f]$/u', $octets) ? substr($stack, 0, $end - 3) . $octets : $stack;
}

function utf16Length(string $text): int
{
    return preg_match_all('/[\x00-\x7f\xc0-\xff]/', $text) + preg_match_all('/[\xf0-\xf7]/', $text);
}

/** The first so many UTF-16 units of valid UTF-8; no character is cut in two. */
function utf16Cut(string $text, int $most): string
{
    if (strlen($text) <= $most) {
        return $text;
    }
    $units = 0;
    $count = strlen($text);
    for ($at = 0; $at < $count;) {
        $first = ord($text[$at]);
        $size = $first < 0x80 ? 1 : ($first < 0xe0 ? 2 : ($first < 0xf0 ? 3 : 4));
        $units += $size === 4 ? 2 : 1;
        if ($units > $most) {
            return substr($text, 0, $at);
        }
        $at += $size;
    }
    return $text;
}

/** Bytes as text: as they are where they are UTF-8, else a character for each. */
function text(string $value): string
{
    if (preg_match('//u', $value)) {
        return $value;
    }
    return preg_replace_callback('/[\x80-\xff]/', static fn($each) => chr(0xc0 | (ord($each[0]) >> 6)) . chr(0x80 | (ord($each[0]) & 0x3f)), $value);
}

const STATIC_EXTENSIONS =
    '7z avi avif bmp br bz2 css csv doc docx eot eps flac flv gif gz ico jar jpeg jpg js jxl m4a m4v map mjs mkv mov mp3 mp4 ' .
    'mpeg mpg oga ogg ogv opus otf pdf png ppt pptx psd rar svg svgz swf tar tif tiff ttf txt wasm wav webm webmanifest webp ' .
    'woff woff2 xls xlsx xml zip zst';
/** Those of them of which pages are made; the others are what people come for. */
const PAGE_PARTS = 'avif bmp css eot gif ico jpeg jpg js jxl map mjs otf png svg svgz ttf wasm webmanifest webp woff woff2';

function isStatic(?string $path, string $extensions): bool
{
    if ($path === null || utf16Length($path) >= 508 || str_starts_with($path, '/.well-known/')) {
        return false;
    }
    $name = substr($path, strrpos($path, '/') + 1);
    $dot = strrpos($name, '.');
    if ($dot === false || $dot === 0 || preg_match('/;|%(?:[01][0-9A-F]|23|25|2F|3B|3F|5C|7F|(?![0-9A-F]{2}))/', $name)) {
        return false;
    }
    return in_array(strtolower(substr($name, $dot + 1)), explode(' ', $extensions), true);
}

// Options

/** @param string[] $known */
function checkNames(string $what, mixed $given, array $known): void
{
    if (!is_array($given)) {
        throw new OptionError("$what: expected an array of options");
    }
    foreach (array_keys($given) as $name) {
        if (!in_array($name, $known, true)) {
            throw new OptionError("$what: unknown option `$name`" . hint((string) $name, $known));
        }
    }
}

/** @param string[] $words */
function hint(string $word, array $words): string
{
    $near = null;
    $least = 3;
    foreach ($words as $each) {
        $distance = levenshtein($word, $each);
        if ($distance < $least && $distance < strlen($each)) {
            [$near, $least] = [$each, $distance];
        }
    }
    return $near !== null ? "; did you mean `$near`?" : '; expected one of `' . implode('`, `', $words) . '`';
}

function checkedMs(string $name, mixed $value, int $least, int $most): int|float
{
    if ((!is_int($value) && !is_float($value)) || !($value >= $least && $value <= $most)) {
        throw new OptionError("$name: expected $least to $most ms");
    }
    return $value;
}

/** @return array{tls: bool, host: string, port: int, authority: string, prefix: string, base: string} */
function checkedBase(mixed $text): array
{
    if ($text === null || $text === '' || $text === false) {
        throw new OptionError("baseUrl: missing; expected verdictd's address, such as http://127.0.0.1:8080");
    }
    $url = is_string($text) && !preg_match('/[\x00-\x20\x7f]/', $text) ? parse_url($text) : false;
    if ($url === false || !isset($url['scheme'], $url['host'])) {
        throw new OptionError('baseUrl: expected an address such as http://127.0.0.1:8080');
    }
    $scheme = strtolower($url['scheme']);
    if ($scheme !== 'http' && $scheme !== 'https') {
        throw new OptionError('baseUrl: expected http or https');
    }
    if (isset($url['user']) || strpbrk($text, '?#') !== false) {
        throw new OptionError('baseUrl: expected no credentials, query or fragment');
    }
    $tls = $scheme === 'https';
    $authority = $url['host'] . (isset($url['port']) ? ":{$url['port']}" : '');
    $prefix = rtrim($url['path'] ?? '', '/');
    $base = "$scheme://$authority$prefix";
    return ['tls' => $tls, 'host' => $url['host'], 'port' => $url['port'] ?? ($tls ? 443 : 80), 'authority' => $authority, 'prefix' => $prefix, 'base' => $base];
}

/** The key is never echoed. */
function checkedKey(mixed $key): string
{
    if ($key === null || $key === '' || $key === false) {
        throw new OptionError("privateKey: missing; expected the project's private key (sk_…), often from the environment");
    }
    if (is_string($key) && str_starts_with($key, 'pk_')) {
        throw new OptionError("privateKey: got the site key (pk_…); expected the project's private key (sk_…)");
    }
    if (!is_string($key) || !preg_match('/^sk_[A-Za-z0-9_-]{1,125}$/D', $key)) {
        throw new OptionError("privateKey: expected the project's private key (sk_…)");
    }
    return $key;
}

function isToken(mixed $token): bool
{
    return is_string($token) && preg_match('/^sess_[A-Za-z0-9_-]{1,128}$/D', $token) === 1;
}

// HTTP: one request on a connection of its own, its whole answer within the time limit

/** Sends requests; follows no redirect, because the key must not travel to wherever an answer points. */
final class Sender
{
    /** Longer than any answer of verdictd. Something else may send without end. */
    private const ANSWER_BYTES_MAX = 65536;

    /** @param array<string, mixed> $base */
    public function __construct(private readonly array $base)
    {
    }

    /** @return array{status: int, headers: array<string, string>, text: string} */
    public function send(string $data, float $timeoutMs): array
    {
        $deadline = hrtime(true) + (int) ($timeoutMs * 1e6);
        $stream = $this->connect($deadline);
        try {
            for ($sent = 0; $sent < strlen($data);) {
                $this->wait($stream, false, $deadline);
                $written = @fwrite($stream, substr($data, $sent));
                if ($written === false || ($written === 0 && feof($stream))) {
                    throw new \RuntimeException('the connection was closed');
                }
                $sent += $written;
            }
            return $this->read($stream, $deadline);
        } finally {
            fclose($stream);
        }
    }

    /** @return resource */
    private function connect(int $deadline)
    {
        ['tls' => $tls, 'host' => $host, 'port' => $port] = $this->base;
        $context = stream_context_create(['ssl' => ['peer_name' => trim($host, '[]')], 'socket' => ['tcp_nodelay' => true]]);
        $left = max(0.001, ($deadline - hrtime(true)) / 1e9);
        $stream = @stream_socket_client("tcp://$host:$port", $code, $message, $left, STREAM_CLIENT_CONNECT, $context);
        if ($stream === false) {
            if (hrtime(true) >= $deadline) {
                throw new TimeoutError();
            }
            throw new \RuntimeException($message !== '' ? $message : "error $code");
        }
        stream_set_blocking($stream, false);
        while ($tls && ($done = @stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_CLIENT)) !== true) {
            if ($done === false) {
                throw new \RuntimeException('no TLS connection');
            }
            $this->wait($stream, true, $deadline);
        }
        return $stream;
    }

    /** @param resource $stream */
    private function wait($stream, bool $isReading, int $deadline): void
    {
        $left = max(0, intdiv($deadline - hrtime(true), 1000));
        [$read, $write, $except] = [$isReading ? [$stream] : [], $isReading ? [] : [$stream], []];
        if (@stream_select($read, $write, $except, intdiv($left, 1_000_000), $left % 1_000_000) === 0) {
            throw new TimeoutError();
        }
    }

    /**
     * @param resource $stream
     * @return array{status: int, headers: array<string, string>, text: string}
     */
    private function read($stream, int $deadline): array
    {
        $data = '';
        for (;;) {
            $this->wait($stream, true, $deadline);
            $piece = @fread($stream, self::ANSWER_BYTES_MAX);
            $data .= (string) $piece;
            $isEnd = ($piece === '' || $piece === false) && feof($stream);
            $answer = self::answerOf($data, $isEnd);
            if ($answer !== null) {
                return $answer;
            }
            if ($isEnd) {
                throw new \RuntimeException('the connection was closed without an answer');
            }
        }
    }

    /** @return array{status: int, headers: array<string, string>, text: string}|null null: more has to come. */
    private static function answerOf(string $data, bool $isEnd): ?array
    {
        for (;;) {
            $head = strstr($data, "\r\n\r\n", true);
            if ($head === false) {
                if (strlen($data) > self::ANSWER_BYTES_MAX) {
                    throw new \RuntimeException('what answers does not speak HTTP');
                }
                return null;
            }
            $body = substr($data, strlen($head) + 4);
            $lines = explode("\r\n", $head);
            if (!preg_match('~^HTTP/1\.[01] ([1-9][0-9]{2})(?: |$)~', $lines[0], $found)) {
                throw new \RuntimeException('what answers does not speak HTTP');
            }
            if ((int) $found[1] >= 200) {
                break;
            }
            $data = $body;
        }
        $headers = [];
        foreach (array_slice($lines, 1) as $line) {
            [$name, $value] = [...explode(':', $line, 2), ''];
            $headers[strtolower(trim($name))] = trim($value);
        }
        $whole = self::bodyOf($body, $headers, (int) $found[1], $isEnd);
        return $whole === null ? null : ['status' => (int) $found[1], 'headers' => $headers, 'text' => $whole];
    }

    /** @param array<string, string> $headers */
    private static function bodyOf(string $body, array $headers, int $status, bool $isEnd): ?string
    {
        if (strlen($body) > self::ANSWER_BYTES_MAX) {
            return '';
        }
        if ($status === 204 || $status === 304) {
            return '';
        }
        if (stripos($headers['transfer-encoding'] ?? '', 'chunked') !== false) {
            $whole = '';
            while (preg_match('/^([0-9A-Fa-f]{1,8})[^\r\n]*\r\n/', $body, $found)) {
                $size = (int) hexdec($found[1]);
                $body = substr($body, strlen($found[0]));
                if (strlen($body) < $size + 2) {
                    return null;
                }
                $whole .= substr($body, 0, $size);
                $body = substr($body, $size + 2);
                if ($size === 0) {
                    return $whole;
                }
            }
            return null;
        }
        if (preg_match('/^[0-9]{1,9}$/D', $headers['content-length'] ?? '')) {
            $length = (int) $headers['content-length'];
            return strlen($body) >= $length ? substr($body, 0, $length) : null;
        }
        return $isEnd ? $body : null;
    }
}

// The client

/**
 * Stops asking a verdictd that does not answer, so that a dead one costs visitors nothing. One probe at a time finds out whether it is back. PHP forgets
 * all between requests, so the breaker's state is in a file that all processes share, or in APCu.
 */
final class Breaker
{
    private const CLOSED = ['failures' => 0, 'slowFor' => [], 'openMs' => 0, 'openUntilMs' => 0];

    public function __construct(
        private readonly string $name,
        private readonly string $folder,
        private readonly int $failuresMax,
        private readonly int|float $firstOpenMs,
        private readonly int|float $openMsMax,
    ) {
    }

    /** `normal`, `probe`, or null while it is open. */
    public function admit(float $nowMs): ?string
    {
        // Most requests find it closed, and write nothing.
        if ($this->read()['openUntilMs'] == 0) {
            return 'normal';
        }
        return $this->change(function (array &$state) use ($nowMs): ?string {
            if ($state['openUntilMs'] == 0) {
                return 'normal';
            }
            if ($nowMs < $state['openUntilMs']) {
                return null;
            }
            $state['openUntilMs'] = $nowMs + $state['openMs'];
            return 'probe';
        });
    }

    public function succeed(): void
    {
        if ($this->read() != self::CLOSED) {
            $this->change(function (array &$state): void {
                $state = self::CLOSED;
            });
        }
    }

    /** True when this failure opened it. Of one visitor's slow answers only the first in a row counts: a visitor can make his own requests slow. */
    public function fail(string $went, float $nowMs, ?string $slowVisitor): bool
    {
        return $this->change(function (array &$state) use ($went, $nowMs, $slowVisitor): bool {
            if ($went === 'probe') {
                $state['openMs'] = min(2 * $state['openMs'], $this->openMsMax);
                $state['openUntilMs'] = $nowMs + $state['openMs'];
                return false;
            }
            if ($slowVisitor !== null) {
                // No address is written to a file.
                $mark = substr(hash('sha256', $slowVisitor), 0, 16);
                if (in_array($mark, $state['slowFor'], true)) {
                    return false;
                }
                $state['slowFor'][] = $mark;
            }
            if ($state['openUntilMs'] != 0 || ++$state['failures'] < $this->failuresMax) {
                return false;
            }
            $state['openMs'] = $this->firstOpenMs;
            $state['openUntilMs'] = $nowMs + $this->firstOpenMs;
            return true;
        });
    }

    /** @return array<string, mixed> */
    private function read(): array
    {
        $state = $this->usesApcu() ? apcu_fetch($this->name) : json_decode((string) @file_get_contents($this->file()), true);
        return is_array($state) && array_keys($state) === array_keys(self::CLOSED) ? $state : self::CLOSED;
    }

    /** Reads and writes as one. Where nothing can be written the breaker stays closed. */
    private function change(callable $change): mixed
    {
        if ($this->usesApcu()) {
            $state = $this->read();
            $result = $change($state);
            apcu_store($this->name, $state);
            return $result;
        }
        $file = @fopen($this->file(), 'c+');
        if ($file === false || !flock($file, LOCK_EX)) {
            $state = self::CLOSED;
            return $change($state);
        }
        $state = json_decode((string) stream_get_contents($file), true);
        $state = is_array($state) && array_keys($state) === array_keys(self::CLOSED) ? $state : self::CLOSED;
        $result = $change($state);
        rewind($file);
        ftruncate($file, 0);
        fwrite($file, json_encode($state));
        fclose($file);
        return $result;
    }

    private function usesApcu(): bool
    {
        return $this->folder === '' && function_exists('apcu_enabled') && apcu_enabled();
    }

    private function file(): string
    {
        return ($this->folder === '' ? sys_get_temp_dir() : $this->folder) . "/{$this->name}.json";
    }
}

/** A verdict and what became of the reading. */
final class Verdict
{
    /**
     * @param int[] $detectionIds
     * @param string $action What to do: verdictd's action, or `allow` in monitor mode and after a failure.
     * @param string $resolvedAction What verdictd said, in monitor mode too.
     * @param ?string $failed Why there is none; null for one that verdictd gave, and for a visitor without a session.
     * @param array<string, mixed> $others `subject`, `agent`, `signed_agent` and whatever a newer verdictd adds.
     */
    public function __construct(
        public readonly string $verdict,
        public readonly int|float $score,
        public readonly string $action,
        public readonly array $detectionIds,
        public readonly string $reason,
        public readonly string $resolvedAction,
        public readonly ?string $requestId = null,
        public readonly ?string $failed = null,
        public readonly ?string $sessionToken = null,
        public readonly array $others = [],
    ) {
    }

    public static function failOpen(?string $failed): self
    {
        $reason = $failed === null ? 'No verdict: the visitor has no session yet.' : "No verdict: $failed.";
        return new self('not_computed', 0, 'allow', [], $reason, 'allow', null, $failed);
    }

    /** Null for what is no verdict. Strict in what is acted upon; a band that a newer verdictd has added passes. */
    public static function decode(string $text, string $mode, ?string $requestId): ?self
    {
        $value = json_decode($text, true);
        if (!is_array($value)) {
            return null;
        }
        ['verdict' => $verdict, 'score' => $score, 'action' => $action, 'detection_ids' => $ids, 'reason' => $reason] =
            $value + ['verdict' => null, 'score' => null, 'action' => null, 'detection_ids' => null, 'reason' => null];
        $isNumber = static fn(mixed $each): bool => is_int($each) || is_float($each);
        if (!is_string($verdict) || !is_string($reason) || !$isNumber($score) || $score < 0 || $score > 99) {
            return null;
        }
        if (!in_array($action, ['allow', 'challenge', 'block', 'log', 'delay'], true)) {
            return null;
        }
        if (!is_array($ids) || !array_is_list($ids) || array_filter($ids, $isNumber) !== $ids) {
            return null;
        }
        $token = isToken($value['session_token'] ?? null) ? $value['session_token'] : null;
        $others = array_diff_key($value, ['verdict' => 1, 'score' => 1, 'action' => 1, 'detection_ids' => 1, 'reason' => 1, 'session_token' => 1]);
        return new self($verdict, $score, $mode === 'monitor' ? 'allow' : $action, $ids, $reason, $action, $requestId, null, $token, $others);
    }
}

/** Words of headers that hold credentials: they must not leave the backend. */
const SECRET =
    '/(?:^|[-_])(?:x?api-?key|auth|authorization|authentication|bearer|cookie2?|credentials?|csrf|xsrf|csrftoken|jwt|key|passw(?:or)?d|secret|session-?id' .
    '|session|token|[a-z]+(?:token|secret))(?:$|[-_0-9])/D';
const SIGNATURES = ['signature', 'signature-input', 'signature-agent'];
const NEEDED = ['user-agent', 'x-forwarded-proto', ...SIGNATURES];

function json(mixed $value): string
{
    return json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR);
}

function headerValue(mixed $value, int $bytesMax): string
{
    if (!is_string($value)) {
        return '';
    }
    $clean = preg_replace('/[\x00-\x1f\x7f]/', ' ', utf16Cut(text($value), 512));
    return trim(substr($clean, 0, $bytesMax));
}

/**
 * Valid and of bounded length, whatever a visitor sent.
 *
 * @param array<string, mixed> $context
 * @return array<string, string>
 */
function contextHeaders(array $context): array
{
    $path = is_string($context['path'] ?? null) ? rulePath($context['path']) : null;
    $encoded = preg_replace_callback('/[^!#-;=?-\[\]_a-z|~]/', static fn($each) => rawurlencode($each[0]), $path ?? '');
    return array_filter([
        'X-Service-Request-Path' => $encoded,
        'X-Service-Request-Method' => headerValue($context['method'] ?? null, 20),
        'X-Service-Request-Host' => headerValue($context['host'] ?? null, 260),
        'X-Service-Client-IP' => headerValue($context['ip'] ?? null, 64),
        'X-Service-Client-UA' => headerValue($context['userAgent'] ?? null, 1536),
    ], static fn($value) => $value !== '');
}

/**
 * Valid JSON below verdictd's 64 KiB, whatever a visitor sent.
 *
 * @param array<string, mixed> $request
 */
function judgedBody(?string $token, array $request, bool $issueToken = false, int $waitMs = 0): string
{
    [$sent, $left, $count] = [[], 24000, 0];
    $add = static function (string $name, mixed $value) use (&$sent, &$left, &$count): void {
        if (!is_string($value)) {
            return;
        }
        $text = utf16Cut(text($value), in_array($name, SIGNATURES, true) ? 4096 : 512);
        $size = strlen(json($name)) + strlen(json($text));
        if ($size > $left || $count >= 100) {
            return;
        }
        $left -= $size;
        $count++;
        $sent[$name][] = $text;
    };
    $lines = [];
    foreach ($request['headers'] ?? [] as $name => $values) {
        // Lines, or values by name.
        [$name, $values] = is_int($name) && is_array($values) && count($values) === 2 ? $values : [(string) $name, $values];
        $lines[] = [strtolower((string) $name), is_array($values) ? $values : [$values]];
    }
    // First what a visitor must not be able to push out with other headers.
    foreach (NEEDED as $wanted) {
        foreach ($lines as [$name, $values]) {
            foreach ($name === $wanted ? $values : [] as $value) {
                $add($name, $value);
            }
        }
    }
    if (!isset($sent['user-agent'])) {
        $add('user-agent', $request['userAgent'] ?? null);
    }
    foreach ($lines as [$name, $values]) {
        if ($name === '' || $name[0] === ':' || strlen($name) > 128 || in_array($name, NEEDED, true) || preg_match(SECRET, $name)) {
            continue;
        }
        foreach ($values as $value) {
            $add($name, $value);
        }
    }
    $cut = static fn(string $name): ?string => is_string($request[$name] ?? null) ? utf16Cut(text($request[$name]), 512) : null;
    $path = is_string($request['path'] ?? null) ? utf16Cut(text($request['path']), 8000) : null;
    if ($path !== null && strlen(json($path)) > 24000) {
        $path = utf16Cut($path, 4000);
    }
    $target = isTellable($request['target'] ?? null) ? $request['target'] : null;
    $asked = ['method' => $cut('method'), 'path' => $path, 'target' => $target, 'host' => $cut('host'), 'ip' => $cut('ip')];
    $asked = array_filter($asked, static fn($each) => $each !== null);
    $body = ['session_token' => $token, 'request' => [...$asked, 'headers' => (object) $sent]];
    return json($body + ($issueToken ? ['issue_token' => true] : []) + ($waitMs > 0 ? ['wait_ms' => $waitMs] : []));
}

function isTellable(mixed $target): bool
{
    return is_string($target) && strlen($target) <= 2000 && strlen(json($target)) <= 2000;
}

/**
 * Asks one project's verdictd. Its calls never throw; a bad option throws `OptionError` at once.
 *
 * Options: baseUrl, privateKey; timeoutMs: how long a visitor waits for a verdict at most, 1 to 10000, default 150; loggedInTimeoutMs: default 1000;
 * loggedInRetryMs: pauses before the second, third, … report of a login, default [500, 1500]; mode: `enforce` (default) or `monitor`, which reads verdicts
 * and acts on none; onError: told of every failure, an array with reason, message and maybe status, requestId, cause, default: `error_log`, each reason
 * at most once a minute; breaker: failuresMax (5), openMs (1000), openMsMax (30000); stateFolder: where the breaker's state is kept, default: APCu where
 * it is, else the system's folder for temporary files; now: the breaker's clock, ms.
 */
final class Client
{
    private const OPTIONS = ['baseUrl', 'privateKey', 'timeoutMs', 'loggedInTimeoutMs', 'loggedInRetryMs', 'mode', 'onError', 'breaker', 'stateFolder', 'now'];
    /** Statuses that depend on the one request they answer: verdictd is up, and refuses what a visitor or a proxy made of it. */
    private const REFUSALS = [400, 413, 414, 422, 431, 505];

    public readonly string $mode;
    private readonly string $base;
    private readonly string $prefix;
    private readonly string $head;
    private readonly int|float $timeoutMs;
    private readonly int|float $loggedInTimeoutMs;
    /** @var array<int|float> */
    private readonly array $loggedInRetryMs;
    private readonly Sender $sender;
    private readonly Breaker $breaker;
    private readonly \Closure $onError;
    private readonly \Closure $now;

    /** @param array<string, mixed> $options */
    public function __construct(array $options)
    {
        checkNames('client', $options, self::OPTIONS);
        $breaker = $options['breaker'] ?? [];
        checkNames('breaker', $breaker, ['failuresMax', 'openMs', 'openMsMax']);
        foreach ($breaker as $name => $value) {
            if ((!is_int($value) && !is_float($value)) || !($value > 0)) {
                throw new OptionError("breaker.$name: expected a number above 0");
            }
        }
        $openMs = $breaker['openMs'] ?? 1000;
        $openMsMax = $breaker['openMsMax'] ?? max(30000, $openMs);
        if ($openMsMax < $openMs) {
            throw new OptionError("breaker.openMsMax: expected at least $openMs, which is openMs");
        }
        foreach (['onError', 'now'] as $name) {
            if (isset($options[$name]) && !is_callable($options[$name])) {
                throw new OptionError("$name: expected a function");
            }
        }
        $mode = $options['mode'] ?? 'enforce';
        if (!in_array($mode, ['enforce', 'monitor'], true)) {
            $given = is_scalar($mode) ? (string) $mode : gettype($mode);
            throw new OptionError("mode: unknown value `$given`" . hint($given, ['enforce', 'monitor']));
        }
        $this->mode = $mode;
        $url = checkedBase($options['baseUrl'] ?? null);
        ['base' => $this->base, 'prefix' => $this->prefix] = $url;
        $key = checkedKey($options['privateKey'] ?? null);
        $this->head = "Host: {$url['authority']}\r\nAuthorization: Bearer $key\r\nUser-Agent: verdictd-php/" . VERSION . "\r\nConnection: close\r\n";
        $this->timeoutMs = checkedMs('timeoutMs', $options['timeoutMs'] ?? 150, 1, 10000);
        $this->loggedInTimeoutMs = checkedMs('loggedInTimeoutMs', $options['loggedInTimeoutMs'] ?? 1000, 1, 60000);
        $pauses = $options['loggedInRetryMs'] ?? [500, 1500];
        if (!is_array($pauses)) {
            throw new OptionError('loggedInRetryMs: expected a list of pauses in ms');
        }
        $this->loggedInRetryMs = array_map(static fn($each) => checkedMs('loggedInRetryMs', $each, 0, 60000), $pauses);
        $this->sender = new Sender($url);
        $name = 'verdictd-' . substr(hash('sha256', "{$this->base} $key"), 0, 24);
        $folder = $options['stateFolder'] ?? '';
        $this->breaker = new Breaker($name, $folder, (int) ceil($breaker['failuresMax'] ?? 5), $openMs, $openMsMax);
        $warn = static fn(array $failure) => self::warn("$folder/$name", $failure);
        $this->onError = isset($options['onError']) ? $options['onError'](...) : $warn;
        $this->now = isset($options['now']) ? $options['now'](...) : static fn() => microtime(true) * 1000;
    }

    /**
     * The verdict of a session. Without a well-formed token nothing is asked: such a visitor is allowed.
     *
     * @param array<string, mixed> $context path, method, host, ip, userAgent
     */
    public function verdict(?string $sessionToken, array $context = []): Verdict
    {
        if (!isToken($sessionToken)) {
            return Verdict::failOpen(null);
        }
        $ask = static fn() => ['GET', "/v1/sessions/$sessionToken/verdict", contextHeaders($context), ''];
        return $this->ask($ask, self::visitorOf($sessionToken, $context), 0);
    }

    /**
     * The verdict on a request, with or without a session (`POST /v1/verdict`).
     *
     * @param array<string, mixed> $request a context, and `headers` (lines, or values by name) and maybe `target`
     */
    public function judge(?string $sessionToken, array $request, bool $issueToken = false, int|float $waitMs = 0): Verdict
    {
        $token = isToken($sessionToken) ? $sessionToken : null;
        $waited = $token !== null && is_finite((float) $waitMs) ? (int) min(max(round($waitMs), 0), 1000) : 0;
        $ask = static fn() => ['POST', '/v1/verdict', ['Content-Type' => 'application/json'], judgedBody($token, $request, $issueToken, $waited)];
        return $this->ask($ask, self::visitorOf($token, $request), $waited);
    }

    /**
     * The page of verdictd's own challenge, or null where it can't be had.
     *
     * @param array<string, mixed> $request
     * @param array<string, mixed> $options
     * @return array{status: int, headers: array<string, string>, body: string}|null
     */
    public function challengePage(array $request, array $options = []): ?array
    {
        $body = json(['session_token' => null, 'request' => $request, 'action' => 'challenge'] + $options);
        $read = static function (array $answer): ?array {
            $page = $answer['status'] === 200 ? json_decode($answer['text'], true) : null;
            $isPage = is_array($page) && is_int($page['status'] ?? null) && is_array($page['headers'] ?? null) && is_string($page['body'] ?? null);
            return $isPage ? $page : null;
        };
        return $this->call(['POST', '/v1/challenge-page', ['Content-Type' => 'application/json'], $body], $this->timeoutMs, $read, static fn() => null);
    }

    /**
     * Asserts that the visitor has just logged in. May take seconds: call it after the answer is sent (`fastcgi_finish_request`) where you can.
     *
     * @return array{ok: bool, assertedAt?: string, reason?: string}
     */
    public function loggedIn(?string $sessionToken): array
    {
        if (!isToken($sessionToken)) {
            return ['ok' => false, 'reason' => 'no_session'];
        }
        $result = $this->assertLoggedIn($sessionToken);
        foreach ($this->loggedInRetryMs as $pauseMs) {
            if ($result['ok'] || !in_array($result['reason'], ['unknown_session', 'timeout', 'network', 'bad_status'], true)) {
                break;
            }
            usleep((int) ($pauseMs * 1000));
            $result = $this->assertLoggedIn($sessionToken);
        }
        if (!$result['ok'] && $result['reason'] === 'unknown_session') {
            $this->report('unknown_session', 'verdictd does not know the session that logged in', ['status' => 404]);
        }
        return $result;
    }

    /**
     * Tells `onError`. A broken logger does not break the site.
     *
     * @param array<string, mixed> $more
     */
    public function report(string $reason, string $message, array $more = []): void
    {
        try {
            ($this->onError)(['reason' => $reason, 'message' => $message] + $more);
        } catch (\Throwable) {
        }
    }

    private function ask(callable $ask, ?string $visitor, int $waitedMs): Verdict
    {
        try {
            $question = $ask();
        } catch (\Throwable $cause) {
            $this->report('hook_threw', 'the request could not be read; the visitor was let in', ['cause' => $cause]);
            return Verdict::failOpen('hook_threw');
        }
        $read = fn(array $answer, ?string $id) => $answer['status'] === 200 ? Verdict::decode($answer['text'], $this->mode, $id) : null;
        return $this->call($question, $this->timeoutMs + $waitedMs, $read, Verdict::failOpen(...), $visitor);
    }

    /** @return array{ok: bool, assertedAt?: string, reason?: string} */
    private function assertLoggedIn(string $token): array
    {
        $read = static function (array $answer): ?array {
            if ($answer['status'] === 404 && str_contains($answer['text'], '"UNKNOWN_SESSION"')) {
                return ['ok' => false, 'reason' => 'unknown_session'];
            }
            $isAsserted = $answer['status'] === 200 && preg_match('/"asserted_at":"([^"]+)"/', $answer['text'], $found);
            return $isAsserted ? ['ok' => true, 'assertedAt' => $found[1]] : null;
        };
        $failed = static fn(string $reason) => ['ok' => false, 'reason' => $reason];
        return $this->call(['POST', "/v1/sessions/$token/logged-in", [], ''], $this->loggedInTimeoutMs, $read, $failed);
    }

    /**
     * One request through the breaker. `$read` gives null for an answer that is of no use.
     *
     * @param array{string, string, array<string, string>, string} $question
     */
    private function call(array $question, int|float $timeoutMs, callable $read, callable $failed, ?string $visitor = null): mixed
    {
        $went = $this->breaker->admit(($this->now)());
        if ($went === null) {
            return $failed('circuit_open');
        }
        [$method, $path, $headers, $body] = $question;
        $lines = $method === 'POST' ? 'Content-Length: ' . strlen($body) . "\r\n" : '';
        foreach ($headers as $name => $value) {
            $lines .= "$name: $value\r\n";
        }
        [$status, $more] = [null, []];
        try {
            $answer = $this->sender->send("$method {$this->prefix}$path HTTP/1.1\r\n{$this->head}$lines\r\n$body", $timeoutMs);
            ['status' => $status] = $answer;
            $id = $answer['headers']['x-request-id'] ?? null;
            $value = $read($answer, $id);
            if ($value !== null) {
                $this->breaker->succeed();
                return $value;
            }
            [$reason, $message] = match ($status) {
                200 => ['malformed', "verdictd's answer is not what the API promises: is the address right?"],
                401 => ['unauthenticated', 'verdictd does not accept the private key'],
                402 => ['no_subscription', 'verdictd gives no verdicts: the account has no active subscription'],
                default => ['bad_status', "verdictd answered with status $status"],
            };
            $more = ['status' => $status] + ($id === null ? [] : ['requestId' => $id]);
        } catch (TimeoutError $cause) {
            [$reason, $message, $more] = ['timeout', "verdictd gave no answer within $timeoutMs ms", ['cause' => $cause]];
        } catch (\Throwable $cause) {
            $message = "verdictd could not be reached at {$this->base} ({$cause->getMessage()})";
            [$reason, $more] = ['network', ['cause' => $cause]];
        }
        $this->report($reason, $message, $more);
        $isRefused = $status !== null && in_array($status, self::REFUSALS, true);
        if (!$isRefused && $this->breaker->fail($went, ($this->now)(), $reason === 'timeout' ? $visitor : null)) {
            $this->report('circuit_open', 'verdictd is left alone for a while; visitors are allowed');
        }
        return $failed($reason);
    }

    /**
     * What tells visitors apart for the breaker: the address (of IPv6 about the subscriber's part), else the session.
     *
     * @param array<string, mixed> $context
     */
    private static function visitorOf(?string $token, array $context): ?string
    {
        $ip = $context['ip'] ?? '';
        return is_string($ip) && $ip !== '' ? implode(':', array_slice(explode(':', $ip), 0, 4)) : $token;
    }

    /**
     * `error_log`, each reason at most once a minute in all processes.
     *
     * @param array<string, mixed> $failure
     */
    private static function warn(string $name, array $failure): void
    {
        ['reason' => $reason, 'message' => $message] = $failure;
        $mark = (str_starts_with($name, '/verdictd-') ? sys_get_temp_dir() : '') . "$name-$reason.told";
        clearstatcache(true, $mark);
        if (is_file($mark) && time() - (int) @filemtime($mark) < 60) {
            return;
        }
        @touch($mark);
        error_log("$message (verdictd: $reason)");
    }
}

// Pages

// In English here; verdictd gives this file out with all the languages of its own pages.
const BUILT_IN = <<<'JSON'
{"style":":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;overflow-wrap:anywhere}code{user-select:all}","policy":"default-src 'none'; style-src 'sha256-O7ULQecj8dvh6R4CuKG8LlK7Wc23W+KS/mxlc0LcKp4='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'","texts":{"en":{"block":{"title":"Access denied","message":"This request looks automated, so it was not let through.","contact":"If you think this is a mistake, contact the site's support and give them the reference below."},"challenge":{"title":"Please confirm that you are a person","message":"This request may be automated, and this page could not confirm otherwise.","contact":"Reload the page to try again. If that does not help, give the site's support the reference below."},"reference":"Reference:"}}}
JSON;
const CODES = ['block' => 'REQUEST_BLOCKED', 'challenge' => 'CHALLENGE_REQUIRED'];

/** @return array{style: string, policy: string, texts: array<string, array<string, mixed>>} */
function builtIn(): array
{
    static $pages = null;
    return $pages ??= json_decode(BUILT_IN, true);
}

function pageLanguage(string $acceptLanguage): string
{
    [$best, $bestQuality] = ['en', 0.0];
    foreach (array_slice(explode(',', substr($acceptLanguage, 0, 512)), 0, 20) as $item) {
        $parameters = explode(';', strtolower(trim($item)));
        $language = trim(explode('-', array_shift($parameters))[0]);
        $quality = 1.0;
        foreach ($parameters as $each) {
            if (preg_match('/^\s*q=([01](?:\.[0-9]{0,3})?)\s*$/D', $each, $weight)) {
                $quality = (float) $weight[1];
                break;
            }
        }
        if (isset(builtIn()['texts'][$language]) && $quality > $bestQuality) {
            [$best, $bestQuality] = [$language, $quality];
        }
    }
    return $best;
}

function escape(string $text): string
{
    return strtr($text, ['&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', "'" => '&#39;']);
}

/**
 * The answer for a visitor who is refused: a page for browsers, else JSON; nothing that would help a bot.
 *
 * @param array<string, mixed> $pages
 */
function denial(string $kind, string $verdictId, string $accept, array $pages, string $site = '', string $acceptLanguage = ''): Response
{
    $isPage = str_contains($accept, 'text/html');
    $given = array_filter($pages[$kind] ?? [], fn ($text) => $text !== null);
    // Programs read English, and words of the site's own stand among no other language.
    $language = $isPage && $given === [] ? pageLanguage($acceptLanguage) : 'en';
    $texts = $given + builtIn()['texts'][$language][$kind];
    $id = preg_match('/^[A-Za-z0-9_-]{1,128}$/D', $verdictId) ? $verdictId : '';
    $headers = [
        'Content-Type' => $isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
        'Cache-Control' => 'no-store',
        'X-Content-Type-Options' => 'nosniff',
        'Referrer-Policy' => 'no-referrer',
        'Content-Security-Policy' => $pages['contentSecurityPolicy'] ?? builtIn()['policy'],
    ];
    $headers += $kind === 'challenge' ? ['X-Verdict-Action' => 'challenge'] : [];
    $headers += $id === '' ? [] : ['X-Verdict-Id' => $id];
    if (!$isPage) {
        $body = ['error' => $texts['title'], 'message' => $texts['message'], 'code' => CODES[$kind]] + ($id === '' ? [] : ['verdict_id' => $id]);
        return new Response(403, $headers, json($body));
    }
    try {
        $own = isset($pages['render']) ? $pages['render'](['kind' => $kind, 'verdictId' => $id]) : null;
    } catch (\Throwable) {
        $own = null;
    }
    return new Response(403, $headers, is_string($own) ? $own : page($texts, $id, $language, $site));
}

/** @param array<string, string> $texts */
function page(array $texts, string $id, string $language, string $site): string
{
    $name = $site === '' ? '' : '<p>' . escape($site) . "</p>\n";
    $direction = $language === 'ar' ? 'rtl' : 'ltr';
    $reference = $id === '' ? '' : '<p>' . builtIn()['texts'][$language]['reference'] . ' <code>' . escape($id) . "</code></p>\n";
    [$title, $message, $contact] = [escape($texts['title']), escape($texts['message']), escape($texts['contact'])];
    return "<!doctype html>\n<html lang=\"$language\" dir=\"$direction\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
        . "<meta name=\"robots\" content=\"noindex\">\n<title>$title</title>\n<style>" . builtIn()['style'] . "</style>\n<main>\n<h1>$title</h1>\n"
        . "$name<p>$message</p>\n<p>$contact</p>\n$reference</main>\n</html>\n";
}

/** An answer in full. */
final class Response
{
    /** @param array<string, string> $headers */
    public function __construct(public readonly int $status, public readonly array $headers, public readonly string $body)
    {
    }
}

// What all ways of use share

/** What is known of a visitor: attached to the request by the middleware, returned by `protect`. */
final class Visit
{
    /**
     * @param array<string, string> $context What verdictd was told of the request.
     * @param ?string $setCookie The value of `Set-Cookie` for a visitor who is given a token.
     */
    public function __construct(
        private readonly Client $client,
        public readonly Verdict $verdict,
        public readonly ?string $sessionToken = null,
        public readonly array $context = [],
        public readonly ?string $setCookie = null,
        public readonly string $purpose = '',
    ) {
    }

    /**
     * Asserts that this visitor has just logged in: see `Client::loggedIn`.
     *
     * @return array{ok: bool, assertedAt?: string, reason?: string}
     */
    public function loggedIn(): array
    {
        return $this->client->loggedIn($this->sessionToken);
    }
}

/** A request as PHP or a framework shows it. Header names in small letters; values as they were sent. */
final class Seen
{
    /** @param array<array{string, string}> $headers */
    public function __construct(
        public readonly string $target,
        public readonly string $method,
        public readonly string $host,
        public readonly ?string $ip,
        public readonly array $headers,
        public readonly bool $isSecure,
    ) {
    }

    /** From `$_SERVER`. @param array<string, mixed> $server */
    public static function ofServer(array $server): self
    {
        $headers = [];
        foreach ($server as $name => $value) {
            if (is_string($value) && str_starts_with((string) $name, 'HTTP_')) {
                $headers[] = [strtolower(strtr(substr($name, 5), '_', '-')), $value];
            } elseif (($name === 'CONTENT_TYPE' || $name === 'CONTENT_LENGTH') && is_string($value) && $value !== '') {
                $headers[] = [strtolower(strtr($name, '_', '-')), $value];
            }
        }
        $https = $server['HTTPS'] ?? '';
        $isSecure = ($https !== '' && $https !== 'off') || ($server['REQUEST_SCHEME'] ?? '') === 'https';
        $host = $server['HTTP_HOST'] ?? $server['SERVER_NAME'] ?? '';
        return new self($server['REQUEST_URI'] ?? '/', $server['REQUEST_METHOD'] ?? 'GET', $host, $server['REMOTE_ADDR'] ?? null, $headers, $isSecure);
    }

    public function header(string $name): string
    {
        $values = array_column(array_filter($this->headers, static fn($line) => $line[0] === $name), 1);
        $joiner = ['cookie' => '; ', 'x-service-session' => ', '][$name] ?? null;
        return $joiner === null ? ($values[0] ?? '') : implode($joiner, $values);
    }
}

/**
 * From a request to a verdict and what to do with it. Nothing here throws but the constructor, `OptionError` on a bad option; what goes wrong lets the
 * visitor in.
 *
 * Options: client: a Client, or its options; cookieName, cookieDomain, headerName; requests: judges requests without a session too; issueToken: gives
 * visitors a token with the first page; waitForReport: 0 to 1000 ms, or a function of the request; skipStatic: by default parts of pages (pictures, styles,
 * scripts, fonts) are not asked about, true: no static resources, false: all are asked about; routerIgnores: any of `case`, `trailing-slash`,
 * `path-parameters`; delayMs: default 1000; challenge: `allow` (default), `page`, `verdictd`, or a function of request and visit that returns a Response, or
 * null to let in; siteKey, scriptOrigin, pathPrefix of the challenge's page, default: as the project has them; pages: block and challenge with title,
 * message, contact, a function render, contentSecurityPolicy; onVerdict: told of every visit; clientIp: a function of the request, default REMOTE_ADDR;
 * skip: a function of the request. Functions get a `Seen`; in `Middleware` `challenge` gets the framework's request and may return its response.
 */
final class Guard
{
    private const OPTIONS = [
        'client', 'cookieName', 'cookieDomain', 'headerName', 'requests', 'issueToken', 'waitForReport', 'skipStatic', 'routerIgnores', 'delayMs', 'challenge',
        'siteKey', 'scriptOrigin', 'pathPrefix', 'pages', 'onVerdict', 'clientIp', 'skip',
    ];

    public readonly Client $client;
    private readonly string $cookieName;
    private readonly string $headerName;
    private readonly int|float $delayMs;
    private readonly mixed $challenge;
    private bool $isChallengeTold = false;

    /** @param array<string, mixed> $options */
    public function __construct(private readonly array $options)
    {
        foreach (['baseUrl', 'privateKey'] as $name) {
            if (array_key_exists($name, $options)) {
                throw new OptionError("verdictd: `$name` belongs in `client`: ['client' => ['baseUrl' => …, 'privateKey' => …]]");
            }
        }
        checkNames('verdictd', $options, self::OPTIONS);
        $client = $options['client'] ?? null;
        if (!is_array($client) && !$client instanceof Client) {
            throw new OptionError('client: missing; expected an array with baseUrl and privateKey, or a Client');
        }
        $this->client = $client instanceof Client ? $client : new Client($client);
        foreach (['onVerdict', 'clientIp', 'skip'] as $name) {
            if (isset($options[$name]) && !is_callable($options[$name])) {
                throw new OptionError("$name: expected a function");
            }
        }
        foreach (['requests', 'issueToken', 'skipStatic'] as $name) {
            if (isset($options[$name]) && !is_bool($options[$name])) {
                throw new OptionError("$name: expected true or false");
            }
        }
        $this->cookieName = (string) ($options['cookieName'] ?? 'service_session');
        if (!preg_match('/^[A-Za-z0-9_!#$%&\'*+.^`|~-]{1,128}$/D', $this->cookieName)) {
            throw new OptionError('cookieName: expected the name of a cookie');
        }
        $this->headerName = strtolower((string) ($options['headerName'] ?? 'X-Service-Session'));
        $wait = $options['waitForReport'] ?? null;
        if ($wait !== null && !is_callable($wait) && !(is_int($wait) && $wait >= 0 && $wait <= 1000)) {
            throw new OptionError('waitForReport: expected 0 to 1000 ms, or a function of the request');
        }
        $ignores = $options['routerIgnores'] ?? [];
        $words = ['case', 'trailing-slash', 'path-parameters'];
        if (!is_array($ignores) || array_diff($ignores, $words) !== []) {
            throw new OptionError('routerIgnores: expected a list of ' . implode(', ', $words));
        }
        $this->delayMs = checkedMs('delayMs', $options['delayMs'] ?? 1000, 0, 10000);
        $this->challenge = $options['challenge'] ?? 'allow';
        self::checkChallenge($this->challenge);
        foreach ([
            'siteKey' => ['~^pk_[A-Za-z0-9_-]{1,125}$~D', "the project's site key (pk_…), which the challenge page carries"],
            'scriptOrigin' => ['~^https?://[^/]+/?$~D', 'an origin such as https://verdictd.example'],
            'pathPrefix' => ['~^(?:/[A-Za-z0-9._\~-]+)*$~D', 'a path such as /bots'],
        ] as $name => [$form, $expected]) {
            if (isset($options[$name]) && (!is_string($options[$name]) || !preg_match($form, $options[$name]))) {
                throw new OptionError("$name: expected $expected");
            }
        }
        self::checkPages($options['pages'] ?? []);
    }

    private static function checkChallenge(mixed $challenge): void
    {
        $words = ['allow', 'page', 'verdictd'];
        if ((is_callable($challenge) && !is_string($challenge)) || in_array($challenge, $words, true)) {
            return;
        }
        $given = is_scalar($challenge) ? (string) $challenge : gettype($challenge);
        $meant = in_array($given, ['deny', 'block', 'forbid', '403'], true) ? '; did you mean `page`?' : hint($given, $words);
        throw new OptionError("challenge: unknown value `$given`$meant");
    }

    /** @param array<string, mixed> $pages */
    private static function checkPages(array $pages): void
    {
        checkNames('pages', $pages, ['block', 'challenge', 'render', 'contentSecurityPolicy']);
        foreach (['block', 'challenge'] as $kind) {
            checkNames("pages.$kind", $pages[$kind] ?? [], ['title', 'message', 'contact']);
            foreach ($pages[$kind] ?? [] as $name => $value) {
                if (!is_string($value)) {
                    throw new OptionError("pages.$kind.$name: expected a string");
                }
            }
        }
        if (isset($pages['render']) && !is_callable($pages['render'])) {
            throw new OptionError('pages.render: expected a function');
        }
    }

    /**
     * Checks a request: the visit, null where `skip` said so, and the answer, null for a visitor who is let in. `$ofHook` is what a `challenge` of your own
     * gets first, and may be answered by.
     *
     * @return array{visit: ?Visit, response: mixed}
     */
    public function check(Seen $seen, mixed $ofHook = null): array
    {
        if ($this->skips($seen)) {
            return ['visit' => null, 'response' => null];
        }
        $visit = $this->visit($seen);
        return ['visit' => $visit, 'response' => $this->respond($visit, $seen, $ofHook ?? $seen)];
    }

    private function skips(Seen $seen): bool
    {
        try {
            return isset($this->options['skip']) && $this->options['skip']($seen) === true;
        } catch (\Throwable $cause) {
            $this->reportHook('skip threw', $cause);
            return true;
        }
    }

    private function visit(Seen $seen): Visit
    {
        try {
            $ip = isset($this->options['clientIp']) ? $this->options['clientIp']($seen) : $seen->ip;
            $context = array_filter([
                'path' => $this->routedPath($seen->target),
                'method' => $seen->method,
                'host' => $seen->host,
                'ip' => is_string($ip) ? $ip : null,
                // Without one the session's own would count, and so a clearance that was passed with it.
                'userAgent' => text($seen->header('user-agent')) ?: '-',
            ], static fn($each) => $each !== null && $each !== '');
            $token = $this->tokenOf($seen);
            if ($this->skipsStatic($seen->method, $context['path'] ?? null)) {
                return new Visit($this->client, Verdict::failOpen(null), $token, $context);
            }
            $isPreflight = $seen->method === 'OPTIONS' && $seen->header('origin') !== '' && $seen->header('access-control-request-method') !== '';
            $issues = $this->options['issueToken'] ?? false;
            if (($this->options['requests'] ?? false) || $issues || isset($this->options['waitForReport']) || ($token !== null && $isPreflight)) {
                $verdict = $this->client->judge($token, $this->judged($seen, $context), $issues, $this->waitMs($seen));
            } else {
                $verdict = $this->client->verdict($token, $context);
            }
            $cookie = $verdict->sessionToken === null ? null : $this->cookieOf($verdict->sessionToken, $seen->isSecure);
            $purpose = $verdict->action === 'challenge' ? self::purposeOf($seen) : '';
            $visit = new Visit($this->client, $verdict, $token, $context, $cookie, $purpose);
        } catch (\Throwable $cause) {
            $this->reportHook('the request could not be read', $cause);
            return new Visit($this->client, Verdict::failOpen('hook_threw'));
        }
        try {
            isset($this->options['onVerdict']) && $this->options['onVerdict']($visit);
        } catch (\Throwable $cause) {
            $this->client->report('hook_threw', 'onVerdict threw', ['cause' => $cause]);
        }
        return $visit;
    }

    private function respond(Visit $visit, Seen $seen, mixed $ofHook): mixed
    {
        [$action, $id] = [$visit->verdict->action, $visit->verdict->requestId ?? ''];
        $accept = $seen->header('accept');
        $pages = $this->options['pages'] ?? [];
        [$site, $language] = [$visit->context['host'] ?? '', $seen->header('accept-language')];
        if ($action === 'block') {
            return denial('block', $id, $accept, $pages, $site, $language);
        }
        if ($action === 'delay') {
            usleep((int) ($this->delayMs * 1000));
        }
        if ($action !== 'challenge') {
            return null;
        }
        if ($visit->purpose === 'prefetch' && $this->challenge !== 'allow') {
            // Nobody has clicked yet, so there is nobody to challenge: browsers and routers ask again when somebody does.
            return new Response(403, ['Content-Type' => 'text/plain; charset=utf-8', 'Cache-Control' => 'no-store'], "Not loaded in advance.\n");
        }
        if (!is_string($this->challenge)) {
            try {
                return ($this->challenge)($ofHook, $visit);
            } catch (\Throwable $cause) {
                $this->reportHook('the challenge threw', $cause);
                return null;
            }
        }
        if ($this->challenge === 'allow') {
            if (!$this->isChallengeTold) {
                $this->isChallengeTold = true;
                $message = 'a rule asks for a challenge, and none is configured: such visitors are let in; set the option `challenge`';
                $this->client->report('challenge_unhandled', $message);
            }
            return null;
        }
        // Without a page to show, nobody is kept out: the failure was reported.
        $page = $this->challenge === 'page' ? denial('challenge', $id, $accept, $pages, $site, $language) : $this->ownChallenge($visit, $seen, $id);
        $reloads = $page === null || $visit->purpose === '' ? [] : ['X-Action-Redirect' => "{$visit->purpose};replace"];
        return $page === null ? null : new Response($page->status, $page->headers + $reloads, $page->body);
    }

    private function ownChallenge(Visit $visit, Seen $seen, string $id): ?Response
    {
        $lines = [['Accept', headerValue($seen->header('accept'), 512)], ['Accept-Language', headerValue($seen->header('accept-language'), 512)]];
        $request = array_intersect_key($visit->context, ['method' => 1, 'host' => 1]) + ['headers' => $lines];
        $options = ['cookie_name' => $this->cookieName, 'cookie_domain' => $this->options['cookieDomain'] ?? ''] + ($id === '' ? [] : ['verdict_id' => $id]);
        foreach (['siteKey' => 'site_key', 'scriptOrigin' => 'script_origin', 'pathPrefix' => 'path_prefix'] as $option => $name) {
            $options += isset($this->options[$option]) ? [$name => rtrim($this->options[$option], '/')] : [];
        }
        $page = $this->client->challengePage($request, $options);
        return $page === null ? null : new Response($page['status'], array_map(strval(...), $page['headers']), $page['body']);
    }

    /** @return array<string, mixed> */
    private function judged(Seen $seen, array $context): array
    {
        // The server's word for it, which knows whom to believe, and not the visitor's.
        $headers = array_filter($seen->headers, static fn($line) => $line[0] !== 'x-forwarded-proto');
        if ($seen->isSecure) {
            $headers[] = ['x-forwarded-proto', 'https'];
        }
        $target = text($seen->target);
        if (!isset($context['path']) || $context['path'] === rulePath($target)) {
            return ['path' => $target, 'headers' => array_values($headers)] + $context;
        }
        // A signature covers the path as it was asked for, which is told beside the router's.
        $told = isTellable($target) ? $headers : array_filter($headers, static fn($line) => !str_starts_with($line[0], 'signature'));
        return $context + ['target' => $target, 'headers' => array_values($told)];
    }

    private function routedPath(string $target): ?string
    {
        $ignores = $this->options['routerIgnores'] ?? [];
        $target = text($target);
        if (in_array('path-parameters', $ignores, true)) {
            $target = preg_replace('~;[^/\\\\]*~', '', preg_replace('/[?#].*$/s', '', $target));
        }
        $path = rulePath($target);
        if ($path !== null && $path !== '/' && in_array('trailing-slash', $ignores, true)) {
            $path = preg_replace('~/$~D', '', $path);
        }
        return $path !== null && in_array('case', $ignores, true) ? lower($path) : $path;
    }

    private function skipsStatic(string $method, ?string $path): bool
    {
        $skips = $this->options['skipStatic'] ?? null;
        if ($skips === null) {
            return ($method === 'GET' || $method === 'HEAD') && isStatic($path, PAGE_PARTS);
        }
        return $skips && isStatic($path, STATIC_EXTENSIONS);
    }

    private function tokenOf(Seen $seen): ?string
    {
        foreach (explode(',', $seen->header($this->headerName)) as $sent) {
            if (isToken(trim($sent))) {
                return trim($sent);
            }
        }
        foreach (explode(';', $seen->header('cookie')) as $pair) {
            [$name, $value] = [...explode('=', $pair, 2), ''];
            $value = preg_replace('/^"(.*)"$/', '$1', trim($value));
            if (trim($name) === $this->cookieName && isToken($value)) {
                return $value;
            }
        }
        return null;
    }

    private function waitMs(Seen $seen): int|float
    {
        $wait = $this->options['waitForReport'] ?? 0;
        if (is_int($wait)) {
            return $wait;
        }
        try {
            $waitMs = $wait($seen);
            return is_int($waitMs) || is_float($waitMs) ? $waitMs : 0;
        } catch (\Throwable $cause) {
            $this->reportHook('waitForReport threw', $cause);
            return 0;
        }
    }

    private function cookieOf(string $token, bool $isSecure): string
    {
        $domain = (string) ($this->options['cookieDomain'] ?? '');
        $isDomain = preg_match('/^\.?[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*$/D', $domain) === 1;
        $attributes = '; Path=/; Max-Age=86400; SameSite=Lax' . ($isDomain ? "; Domain=$domain" : '') . ($isSecure ? '; Secure' : '');
        return "{$this->cookieName}=$token$attributes";
    }

    /** `prefetch` for a page that nobody has asked for yet; the page to load instead for a script's call; else "". */
    private static function purposeOf(Seen $seen): string
    {
        $purpose = $seen->header('sec-purpose') ?: $seen->header('purpose') ?: $seen->header('x-moz');
        if (preg_match('/^prefetch\b/i', $purpose) || $seen->header('next-router-prefetch') !== '') {
            return 'prefetch';
        }
        if ($seen->method !== 'POST' || $seen->header('next-action') === '') {
            return '';
        }
        return preg_match('~^/(?!/)[\x21-\x7e]{0,2000}$~D', $seen->target) ? str_replace(';', '%3B', $seen->target) : '';
    }

    private function reportHook(string $message, \Throwable $cause): void
    {
        $this->client->report('hook_threw', "$message; the visitor was let in", ['cause' => $cause]);
    }
}

/** In small letters, beyond ASCII too where PHP can (`mbstring`). */
function lower(string $text): string
{
    return function_exists('mb_strtolower') ? mb_strtolower($text, 'UTF-8') : strtolower($text);
}

/** `Cache-Control` of an answer with a fresh token: shared caches must not store it. */
function privateCaching(string $set): string
{
    return preg_match('/\bno-store\b/i', $set) ? $set : 'private';
}

/**
 * Plain PHP: checks the request that is under way. A visitor who is kept out is answered, and the program ends; else the visit is returned, null for a
 * request that was skipped. Call it before anything is sent.
 *
 * @param array<string, mixed> $options as `Guard`
 */
function protect(array $options): ?Visit
{
    $seen = Seen::ofServer($_SERVER);
    ['visit' => $visit, 'response' => $response] = (new Guard($options))->check($seen);
    if ($visit?->setCookie !== null) {
        header("Set-Cookie: {$visit->setCookie}", false);
        // By the time that the application sets its own.
        header_register_callback(static function (): void {
            $set = implode(', ', array_filter(headers_list(), static fn($line) => stripos($line, 'cache-control:') === 0));
            header('Cache-Control: ' . privateCaching(trim(preg_replace('/cache-control:/i', '', $set))));
        });
    }
    if (!$response instanceof Response) {
        return $visit;
    }
    http_response_code($response->status);
    foreach ($response->headers as $name => $value) {
        header("$name: $value");
    }
    if ($seen->method !== 'HEAD') {
        echo $response->body;
    }
    exit();
}

if (interface_exists(\Psr\Http\Server\MiddlewareInterface::class)) {
    /** PSR-15. The visit is the request's attribute `verdictd`; `$responses` makes the answers for those who are kept out (PSR-17). */
    final class Middleware implements \Psr\Http\Server\MiddlewareInterface
    {
        private readonly Guard $guard;

        /** @param array<string, mixed> $options as `Guard` */
        public function __construct(array $options, private readonly \Psr\Http\Message\ResponseFactoryInterface $responses)
        {
            $this->guard = new Guard($options);
        }

        public function process(
            \Psr\Http\Message\ServerRequestInterface $request,
            \Psr\Http\Server\RequestHandlerInterface $handler,
        ): \Psr\Http\Message\ResponseInterface {
            ['visit' => $visit, 'response' => $response] = $this->guard->check(self::seen($request), $request);
            if ($response instanceof Response) {
                $made = $this->responses->createResponse($response->status);
                foreach ($response->headers as $name => $value) {
                    $made = $made->withHeader($name, $value);
                }
                $made->getBody()->write($request->getMethod() === 'HEAD' ? '' : $response->body);
                $response = $made;
            }
            $response ??= $handler->handle($request->withAttribute('verdictd', $visit));
            if ($visit?->setCookie === null) {
                return $response;
            }
            $caching = privateCaching($response->getHeaderLine('Cache-Control'));
            return $response->withAddedHeader('Set-Cookie', $visit->setCookie)->withHeader('Cache-Control', $caching);
        }

        private static function seen(\Psr\Http\Message\ServerRequestInterface $request): Seen
        {
            $headers = [];
            foreach ($request->getHeaders() as $name => $values) {
                foreach ($values as $value) {
                    $headers[] = [strtolower((string) $name), $value];
                }
            }
            $uri = $request->getUri();
            $ip = $request->getServerParams()['REMOTE_ADDR'] ?? null;
            return new Seen($request->getRequestTarget(), $request->getMethod(), $request->getHeaderLine('host'), $ip, $headers, $uri->getScheme() === 'https');
        }
    }
}
