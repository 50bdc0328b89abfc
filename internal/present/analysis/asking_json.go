package analysis

import "github.com/rocecap/rocecap/internal/track/conversation"

// jsonAsking is how a requester asks for acknowledgements.
type jsonAsking struct {
	Packets      int   `json:"packets"`
	LongestRun   int   `json:"longest_run_without"`
	LongestBytes int64 `json:"longest_run_without_bytes"`
}

func jsonAskingOf(a *conversation.Asking) jsonAsking {
	return jsonAsking{a.Packets, a.LongestRun, a.LongestBytes}
}

// jsonCredits are the credits that a responder told; ByCode counts its answers by
// the code in them.
type jsonCredits struct {
	Answers int   `json:"answers"`
	Least   int   `json:"least"`
	None    int   `json:"without_any"`
	ByCode  []int `json:"by_code"`
}

func jsonCreditsOf(c *conversation.Credits) *jsonCredits {
	if c.Codes == nil {
		return nil
	}
	return &jsonCredits{c.Answers, c.Least, c.None, c.Codes[:]}
}
