/** Periods of the audit log, in the time of the person who reads it. */
import type { TimeRange } from "../../features/operation/queries";

export interface Period {
  id: string;
  label: string;
  range: (now: Date) => TimeRange;
}

export const PERIODS: Period[] = [
  { id: "all", label: "Any time", range: () => ({ since: null, until: null }) },
  { id: "today", label: "Today", range: (now) => ({ since: dayBefore(now, 0), until: null }) },
  {
    id: "yesterday",
    label: "Yesterday",
    range: (now) => ({ since: dayBefore(now, 1), until: dayBefore(now, 0) }),
  },
  { id: "week", label: "Last 7 days", range: (now) => ({ since: dayBefore(now, 6), until: null }) },
  { id: "month", label: "Last 30 days", range: (now) => ({ since: dayBefore(now, 29), until: null }) },
];

export function periodOf(id: string | null): Period {
  const [all] = PERIODS as [Period, ...Period[]];
  return PERIODS.find((period) => period.id === id) ?? all;
}

/** The start of a day, by the calendar: days are not all 24 hours long. */
function dayBefore(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
}
