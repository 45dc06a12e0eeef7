<?php
/** As much of PSR-7, PSR-15 and PSR-17 as the PHP client's middleware uses, for the adapter: interfaces by their standard names, and one of each. */

declare(strict_types=1);

namespace Psr\Http\Message {
    interface StreamInterface
    {
        public function write(string $string): int;
    }
    interface UriInterface
    {
        public function getScheme(): string;
    }
    interface ServerRequestInterface
    {
        public function getMethod(): string;
        public function getRequestTarget(): string;
        public function getHeaders(): array;
        public function getHeaderLine(string $name): string;
        public function getUri(): UriInterface;
        public function getServerParams(): array;
        public function withAttribute(string $name, $value): ServerRequestInterface;
    }
    interface ResponseInterface
    {
        public function withHeader(string $name, $value): ResponseInterface;
        public function withAddedHeader(string $name, $value): ResponseInterface;
        public function getHeaderLine(string $name): string;
        public function getBody(): StreamInterface;
    }
    interface ResponseFactoryInterface
    {
        public function createResponse(int $code = 200, string $reasonPhrase = ''): ResponseInterface;
    }
}

namespace Psr\Http\Server {
    interface RequestHandlerInterface
    {
        public function handle(\Psr\Http\Message\ServerRequestInterface $request): \Psr\Http\Message\ResponseInterface;
    }
    interface MiddlewareInterface
    {
        public function process(
            \Psr\Http\Message\ServerRequestInterface $request,
            RequestHandlerInterface $handler,
        ): \Psr\Http\Message\ResponseInterface;
    }
}

namespace {
    use Psr\Http\Message\ResponseInterface;
    use Psr\Http\Message\ServerRequestInterface;

    final class FakeUri implements \Psr\Http\Message\UriInterface
    {
        public function __construct(private readonly string $scheme)
        {
        }

        public function getScheme(): string
        {
            return $this->scheme;
        }
    }

    final class FakeRequest implements ServerRequestInterface
    {
        public array $attributes = [];

        public function __construct(private string $method, private string $target, private array $server, private bool $isSecure)
        {
        }

        public function getMethod(): string
        {
            return $this->method;
        }

        public function getRequestTarget(): string
        {
            return $this->target;
        }

        public function getHeaders(): array
        {
            $headers = [];
            foreach ($this->server as $name => $value) {
                if (str_starts_with((string) $name, 'HTTP_')) {
                    $headers[ucwords(strtolower(strtr(substr($name, 5), '_', '-')), '-')] = [$value];
                }
            }
            return $headers;
        }

        public function getHeaderLine(string $name): string
        {
            return $this->server['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? '';
        }

        public function getUri(): \Psr\Http\Message\UriInterface
        {
            return new FakeUri($this->isSecure ? 'https' : 'http');
        }

        public function getServerParams(): array
        {
            return $this->server;
        }

        public function withAttribute(string $name, $value): ServerRequestInterface
        {
            $copy = clone $this;
            $copy->attributes[$name] = $value;
            return $copy;
        }
    }

    final class FakeResponse implements ResponseInterface, \Psr\Http\Message\StreamInterface
    {
        public function __construct(public int $status, public array $headers, public string $body)
        {
        }

        public function withHeader(string $name, $value): ResponseInterface
        {
            return new self($this->status, [$name => [$value]] + $this->headers, $this->body);
        }

        public function withAddedHeader(string $name, $value): ResponseInterface
        {
            return new self($this->status, [$name => [...$this->headers[$name] ?? [], $value]] + $this->headers, $this->body);
        }

        public function getHeaderLine(string $name): string
        {
            return implode(', ', $this->headers[$name] ?? []);
        }

        public function getBody(): \Psr\Http\Message\StreamInterface
        {
            return $this;
        }

        public function write(string $string): int
        {
            $this->body .= $string;
            return strlen($string);
        }
    }

    final class FakeFactory implements \Psr\Http\Message\ResponseFactoryInterface
    {
        public function createResponse(int $code = 200, string $reasonPhrase = ''): ResponseInterface
        {
            return new FakeResponse($code, [], '');
        }
    }

    final class FakeApplication implements \Psr\Http\Server\RequestHandlerInterface
    {
        public bool $isReached = false;
        public mixed $visit = null;

        public function handle(ServerRequestInterface $request): ResponseInterface
        {
            $this->isReached = true;
            $this->visit = $request->attributes['verdictd'];
            return new FakeResponse(200, ['Cache-Control' => ['max-age=60'], 'Set-Cookie' => ['app=1']], 'ok');
        }
    }
}
