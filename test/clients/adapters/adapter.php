<?php
/** The adapter of the PHP client, by its `Guard`, or with the argument `psr` by its middleware for PSR-15: see `protocol.ts`. */

declare(strict_types=1);

$isPsr = ($argv[2] ?? '') === 'psr';
if ($isPsr) {
    require __DIR__ . '/psr.php';
}
require "$argv[1]/verdictd.php";

$failures = [];
$told = 0;
$nowMs = 1_000_000;
$client = null;
$guard = null;
$stateFolder = sys_get_temp_dir() . '/verdictd-adapter-' . getmypid();
mkdir($stateFolder);
register_shutdown_function(static function () use ($stateFolder): void {
    array_map(unlink(...), glob("$stateFolder/*"));
    rmdir($stateFolder);
});

function fail(): never
{
    throw new RuntimeException('a hook of the test');
}

function create(array $options, array $hooks): void
{
    global $client, $guard, $stateFolder, $isPsr;
    array_map(unlink(...), glob("$stateFolder/*"));
    if (isset($options['client'])) {
        $asked = [
            'onError' => static function (array $failure): void {
                $GLOBALS['failures'][] = $failure['reason'];
            },
            'now' => static fn() => $GLOBALS['nowMs'],
            'stateFolder' => $stateFolder,
        ];
        $client = new Verdictd\Client($options['client'] + $asked);
        $options['client'] = $client;
    }
    if (isset($hooks['skip'])) {
        $options['skip'] = static fn($seen) => $hooks['skip'] === 'throws' ? fail() : str_starts_with($seen->target, '/private');
    }
    if (isset($hooks['clientIp'])) {
        $options['clientIp'] = static fn() => $hooks['clientIp'] === 'throws' ? fail() : $hooks['clientIp'];
    }
    if (isset($hooks['waitForReport'])) {
        $options['waitForReport'] = static fn() => $hooks['waitForReport'] === 'throws' ? fail() : $hooks['waitForReport'];
    }
    if (isset($hooks['onVerdict'])) {
        $options['onVerdict'] = static function () use ($hooks): void {
            $GLOBALS['told']++;
            $hooks['onVerdict'] === 'throws' && fail();
        };
    }
    if (isset($hooks['challenge'])) {
        $own = $isPsr ? static fn() => new FakeResponse(418, [], 'prove it') : static fn() => new Verdictd\Response(418, [], 'prove it');
        $options['challenge'] = ['own' => $own, 'passes' => static fn() => null, 'throws' => static fn() => fail()][$hooks['challenge']];
    }
    $guard = $isPsr ? new Verdictd\Middleware($options, new FakeFactory()) : new Verdictd\Guard($options);
}

/** As PHP's servers fill `$_SERVER`. */
function serverOf(array $request): array
{
    $server = ['REQUEST_METHOD' => $request['method'], 'REQUEST_URI' => bytes($request['target']), 'REMOTE_ADDR' => $request['ip']];
    $server += $request['secure'] ? ['HTTPS' => 'on'] : [];
    foreach ($request['headers'] as [$name, $value]) {
        $key = 'HTTP_' . strtoupper(strtr($name, '-', '_'));
        $server[$key] = isset($server[$key]) ? $server[$key] . ($key === 'HTTP_COOKIE' ? '; ' : ', ') . bytes($value) : bytes($value);
    }
    return $server;
}

/** The protocol's texts have a character for each byte. */
function bytes(string $text): string
{
    return preg_replace_callback('/[\xc2\xc3]([\x80-\xbf])/', static fn($found) => chr(((ord($found[0][0]) & 3) << 6) | (ord($found[1]) & 0x3f)), $text);
}

function visit(array $request): array
{
    global $guard, $isPsr;
    [$response, $visit, $isReached] = $isPsr ? visitPsr($guard, $request) : visitPlain($guard, $request);
    $answer = ['status' => $response->status, 'headers' => [], 'body' => $response->body, 'reached' => $isReached, 'visit' => null, 'told' => $GLOBALS['told']];
    foreach ($response->headers as $name => $values) {
        $answer['headers'][strtolower($name)] = (array) $values;
    }
    if ($isReached && $visit !== null) {
        $verdict = $visit->verdict;
        $answer['visit'] = [
            'verdict' => [...get_object_vars($verdict), ...$verdict->others, 'detection_ids' => $verdict->detectionIds],
            'sessionToken' => $visit->sessionToken,
            'context' => $visit->context,
        ];
    }
    return $answer;
}

function visitPlain(Verdictd\Guard $guard, array $request): array
{
    ['visit' => $visit, 'response' => $response] = $guard->check(Verdictd\Seen::ofServer(serverOf($request)));
    if ($response !== null) {
        return [$response, $visit, false];
    }
    $cookies = ['app=1', ...($visit?->setCookie === null ? [] : [$visit->setCookie])];
    $caching = $visit?->setCookie === null ? 'max-age=60' : Verdictd\privateCaching('max-age=60');
    return [(object) ['status' => 200, 'headers' => ['Cache-Control' => $caching, 'Set-Cookie' => $cookies], 'body' => 'ok'], $visit, true];
}

function visitPsr(Verdictd\Middleware $middleware, array $request): array
{
    $application = new FakeApplication();
    $response = $middleware->process(new FakeRequest($request['method'], bytes($request['target']), serverOf($request), $request['secure']), $application);
    return [$response, $application->visit, $application->isReached];
}

function obey(array $command): array
{
    global $client, $nowMs;
    if ($command['do'] === 'visit') {
        return visit($command['request']);
    }
    if ($command['do'] === 'loggedIn') {
        return ['loggedIn' => $client->loggedIn($command['token'])];
    }
    if ($command['do'] === 'advance') {
        $nowMs += $command['ms'];
        return ['error' => null];
    }
    try {
        create($command['options'], $command['hooks']);
        return ['told' => 0];
    } catch (Verdictd\OptionError $error) {
        return ['error' => $error->getMessage()];
    }
}

while (($line = fgets(STDIN)) !== false) {
    [$failures, $told] = [[], 0];
    $answer = obey(json_decode($line, true));
    echo json_encode(array_filter($answer, static fn($each) => $each !== null) + ['failures' => $failures], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
