/** Feedback on an answer: good or bad, with a comment. */
import { useMutation } from "@tanstack/react-query";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client";
import { Button, IconButton } from "../../ui/Button";
import { TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";

type Rating = 1 | -1;

export function FeedbackForm({ answerId }: { answerId: string }) {
  const [rating, setRating] = useState<Rating | null>(null);
  const [comment, setComment] = useState("");
  const send = useMutation({
    mutationFn: (comment: string) =>
      api.POST("/api/queries/{query_id}/feedback", {
        params: { path: { query_id: answerId } },
        body: { rating: rating ?? 1, ...(comment === "" ? {} : { comment }) },
      }),
  });
  if (send.isSuccess) return <p className="muted">Thank you, your feedback is stored.</p>;
  return (
    <div className="feedback">
      <IconButton label="Good answer" aria-pressed={rating === 1} onPress={() => setRating(1)}>
        <ThumbsUp size={16} />
      </IconButton>
      <IconButton label="Bad answer" aria-pressed={rating === -1} onPress={() => setRating(-1)}>
        <ThumbsDown size={16} />
      </IconButton>
      {rating !== null && (
        <form
          className="feedback-form"
          onSubmit={(event) => {
            event.preventDefault();
            send.mutate(comment.trim());
          }}
        >
          <TextField
            label="Comment"
            placeholder={rating === 1 ? "What was good? (optional)" : "What is wrong or missing? (optional)"}
            value={comment}
            onChange={setComment}
            autoFocus
          />
          <Button type="submit" size="small" isDisabled={send.isPending}>
            Send feedback
          </Button>
        </form>
      )}
      {send.isError && <ProblemMessage error={send.error} />}
    </div>
  );
}
