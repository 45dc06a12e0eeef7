/** Usage against the plan's quota, and who the token speaks for. */
import type { UsageAnswer } from "../../contract/configuration/account-answers.js";
import type { Api } from "../api.js";
import { Card, FreshnessLine, Loaded, PageTitle } from "../parts.js";
import { useResource } from "../resource.js";
import { count } from "../words.js";

/** The events of the month beside the quota, and the user, account and role behind the token. */
export function UsagePage({ api }: { readonly api: Api }) {
  const usage = useResource(() => api.usage(), [api]);
  const who = useResource(async () => {
    const [account, user] = await Promise.all([api.account(), api.user()]);
    return { account, user };
  }, [api]);
  return (
    <>
      <PageTitle title="Usage">
        <FreshnessLine of={usage} />
      </PageTitle>
      <Card title="Events this month">
        <Loaded from={usage}>{(value) => <Quota usage={value} />}</Loaded>
      </Card>
      <Card title="Signed in as">
        <Loaded from={who}>
          {({ account, user }) => (
            <dl class="facts">
              <Row name="User" value={`${user.name}, ${user.email}`} />
              <Row name="Account" value={`${account.name} (${account.slug})`} />
              <Row name="Role" value={account.role ?? "none"} />
            </dl>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function Row({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const percents = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 });

function Quota({ usage }: { readonly usage: UsageAnswer }) {
  const { month, events, quota, plan } = usage;
  return (
    <>
      <p class="headline">
        {count(events)}{" "}
        {quota === null ? "events, no quota" : `of ${count(quota)} events (${percents.format(events / quota)})`}
      </p>
      {quota !== null && (
        <meter
          min={0}
          max={quota}
          high={quota * 0.9}
          value={Math.min(events, quota)}
          aria-label="Share of the quota used"
        />
      )}
      <p class="dim">
        Month {month} (UTC), plan {plan}.
        {quota !== null && events > quota && " The quota is used up: events are still accepted and flagged."}
      </p>
    </>
  );
}
