-- Asks verdictd about a request, for HAProxy: the action "verdictd". HAProxy 2.6 or newer; nothing else is needed.
local url = os.getenv("VERDICTD_URL") .. "/v1/forward-auth"
local key = os.getenv("VERDICTD_PRIVATE_KEY")
local answer_ms = 150

-- The visitor's headers that verdictd reads, and what it keeps of them, characters.
local lengths = {
  ["accept"] = 512, ["accept-encoding"] = 512, ["accept-language"] = 512, ["user-agent"] = 512, ["origin"] = 512, ["referer"] = 512,
  ["content-type"] = 512, ["sec-ch-ua"] = 512, ["access-control-request-method"] = 64, ["sec-ch-ua-mobile"] = 64,
  ["sec-ch-ua-platform"] = 64, ["sec-fetch-site"] = 64, ["sec-fetch-mode"] = 64, ["sec-fetch-dest"] = 64, ["sec-fetch-user"] = 64,
  ["upgrade-insecure-requests"] = 64, ["x-requested-with"] = 64, ["sec-purpose"] = 64, ["purpose"] = 64,
}
-- These count whole or not at all.
local whole = { ["signature"] = 1024, ["signature-input"] = 1024, ["signature-agent"] = 512 }

local function plain(text, length)
  return (text:gsub("%c.*", ""):sub(1, length))
end

-- The session alone, and not the visitor's other cookies.
local function session(cookies)
  return (";" .. (cookies or "")):match(";%s*service_session%s*=%s*\"?(sess_[%w_-]+)")
end

core.register_action("verdictd", { "http-req" }, function(txn)
  local sent = txn.http:req_get_headers()
  local function last(name)
    local lines = sent[name]
    if lines == nil then return nil end
    local at = 0
    while lines[at + 1] ~= nil do at = at + 1 end
    return lines[at]
  end
  local target = txn.f:url()
  local headers = {
    ["host"] = { "verdictd" },
    ["x-service-private-key"] = { key },
    ["x-service-asked-again"] = { "0" },
    ["x-service-cookie-name"] = { "service_session" },
    ["x-forwarded-method"] = { txn.f:method() },
    ["x-forwarded-host"] = { plain(last("host") or "", 512) },
    ["x-forwarded-proto"] = { last("x-forwarded-proto") or "" },
    ["x-forwarded-for"] = { txn.f:src() },
    ["x-forwarded-uri"] = { #target <= 2000 and target or (target:match("^[^?#]*")) },
  }
  for name, length in pairs(lengths) do
    local value = last(name)
    if value ~= nil then headers[name] = { plain(value, length) } end
  end
  for name, length in pairs(whole) do
    local value = last(name)
    if value ~= nil and #value <= length and #target <= 2000 then headers[name] = { value } end
  end
  local cookies = {}
  for _, line in pairs(sent["cookie"] or {}) do cookies[#cookies + 1] = line end
  local token = session(table.concat(cookies, ";"))
  if token ~= nil then headers["cookie"] = { "service_session=" .. token:sub(1, 133) } end
  local by_header = last("x-service-session")
  if by_header ~= nil then headers["x-service-session"] = { plain(by_header, 512) } end

  local asked, answer = pcall(function()
    return core.httpclient():get({ url = url, headers = headers, timeout = answer_ms })
  end)
  if not asked or answer == nil or answer.headers == nil then return end
  local function told(name)
    local lines = answer.headers[name]
    return lines and lines[0]
  end
  local action = told("x-verdict-action")
  -- Whatever is no verdict lets in.
  if action == nil or (answer.status ~= 204 and answer.status ~= 401 and answer.status ~= 403) then return end
  if answer.status == 204 then
    for _, name in ipairs({ "X-Verdict", "X-Verdict-Score", "X-Verdict-Action", "X-Verdict-Agent" }) do
      local value = told(name:lower())
      if value ~= nil then txn.http:req_set_header(name, value) end
    end
    local cookie = told("set-cookie")
    if cookie ~= nil then txn:set_var("txn.verdict_cookie", cookie) end
    return
  end
  local reply = txn:reply({ status = 403, reason = "Forbidden", body = answer.body or "" })
  for _, name in ipairs({
    "Content-Type", "Cache-Control", "X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "Vary",
    "X-Verdict-Action", "X-Verdict-Id", "Set-Cookie",
  }) do
    local value = told(name:lower())
    if value ~= nil then reply:add_header(name, value) end
  end
  txn:done(reply)
end)
