/** State of the service, always in view; details on demand. */
import { useQuery } from "@tanstack/react-query";
import { Button, Dialog, DialogTrigger, Heading, Popover } from "react-aria-components";
import { Link } from "react-router";
import { type Health, healthQuery } from "../../features/operation/health";
import { HEALTH_STATES } from "../../features/operation/healthStates";
import { useIsFirst } from "./useIsFirst";
import "./status.css";

export function StatusIndicator() {
  const health = useQuery(healthQuery).data;
  if (!health) return null;
  const { tone, label } = HEALTH_STATES[health.state];
  return (
    <DialogTrigger>
      <Button className="status" data-tone={tone} aria-label={`Service: ${label}`}>
        <span className="status-dot" aria-hidden />
        <span className="status-label">{label}</span>
      </Button>
      <Popover className="popover" placement="bottom start">
        <Dialog className="status-details">
          {({ close }) => (
            <>
              <Heading slot="title">{label}</Heading>
              <Details health={health} />
              <p>
                <Link to="/overview" onClick={close}>
                  Overview
                </Link>
              </p>
            </>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function Details({ health }: { health: Health }) {
  return (
    <>
      <p className="muted">{HEALTH_STATES[health.state].advice}</p>
      {health.parts.length > 0 && (
        <ul>
          {health.parts.map((part) => (
            <li key={part}>{part}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Tells screen readers about changes of the state, not about the state at the start. */
export function StatusAnnouncement() {
  const health = useQuery(healthQuery).data;
  const isFirst = useIsFirst(health?.state);
  const text =
    health && !isFirst ? `Service: ${HEALTH_STATES[health.state].label}. ${health.parts.join(", ")}` : "";
  return (
    <div role="status" className="visually-hidden">
      {text}
    </div>
  );
}
