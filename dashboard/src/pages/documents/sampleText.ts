/** A text to try splitters with, before there are documents. */
export const SAMPLE_TEXT = `# Feed pumps P-101A and P-101B

The pumps deliver condensate from the feed tank T-101 to the flash vessel V-101. One pump runs, the other one is on standby.

## Start of the standby pump

1. Open the suction valve and vent the casing until the condensate is free of bubbles.
2. Check that the discharge valve is closed.
3. Start the motor and open the discharge valve within one minute.
4. Stop the other pump and close its discharge valve.

## Isolation for work on a pump

Close the suction and discharge valves, drain the casing to the closed drain, and lock the valves. The minimum flow line to T-101 remains open to the other pump: its check valve is not an isolation.`;
